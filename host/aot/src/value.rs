//! JavaScript values as QuickJS boxes them in 64 bits: a tag above 32 bits of content, or a number shifted out of their way.

pub(crate) mod tag {
    pub(crate) const FIRST_COUNTED: i32 = -9;
    pub(crate) const FUNCTION_BYTECODE: u64 = 0xffff_fffe;
    pub(crate) const OBJECT: u64 = 0xffff_ffff;
    pub(crate) const BOOL: u64 = 1;
    pub(crate) const NULL: u64 = 2;
    pub(crate) const UNDEFINED: u64 = 3;
    pub(crate) const UNINITIALIZED: u64 = 4;
    pub(crate) const EXCEPTION: u64 = 6;
    pub(crate) const SHORT_BIG_INT: u64 = 7;
}

pub(crate) const UNDEFINED: i64 = (tag::UNDEFINED << 32) as i64;
pub(crate) const NULL: i64 = (tag::NULL << 32) as i64;
pub(crate) const UNINITIALIZED: i64 = (tag::UNINITIALIZED << 32) as i64;
pub(crate) const FALSE: i64 = (tag::BOOL << 32) as i64;
pub(crate) const OBJECT: i64 = (tag::OBJECT << 32) as i64;

/// The kinds that a value may be of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const INT: Kinds = Kinds(1);
    pub(crate) const FLOAT: Kinds = Kinds(2);
    pub(crate) const BOOL: Kinds = Kinds(4);
    /// Undefined, null and what only the engine sees: never counted, and not a number to the engine's operators.
    pub(crate) const OTHER: Kinds = Kinds(8);
    /// What is counted, and small BigInts, which behave like it.
    pub(crate) const HEAP: Kinds = Kinds(16);
    pub(crate) const UNINITIALIZED: Kinds = Kinds(32);
    pub(crate) const NUMBER: Kinds = Kinds(1 | 2);
    pub(crate) const ANY: Kinds = Kinds(31);

    pub(crate) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    /// True if it may be of these.
    pub(crate) const fn may_be(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_int(self) -> bool {
        self == Kinds::INT
    }

    /// True if it is known to be a number, and not known to be an integer.
    pub(crate) fn is_number(self) -> bool {
        self.may_be(Kinds::FLOAT) && !self.may_be(Kinds(!Kinds::NUMBER.0))
    }

    /// Returns the kind of a constant.
    pub(crate) fn of(value: u64) -> Kinds {
        match value >> 32 {
            0 => Kinds::INT,
            tag::BOOL => Kinds::BOOL,
            tag::NULL | tag::UNDEFINED => Kinds::OTHER,
            tag::SHORT_BIG_INT => Kinds::HEAP,
            tag if tag as u32 as i32 >= tag::FIRST_COUNTED && (tag as u32 as i32) < 0 => Kinds::HEAP,
            tag if tag > tag::SHORT_BIG_INT => Kinds::FLOAT,
            _ => Kinds::ANY,
        }
    }
}
