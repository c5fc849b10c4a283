//! The tables of functions and types that a binding module brings.
//!
//! The binding is made by the host; its tables are trusted as the engine's own code is.

use super::context::Context;
use crate::values::enum_text;
use std::ffi::{CStr, c_char};

/// The version of the tables that this engine reads.
const VERSION: u32 = 2;

/// A type as the tables name it: its kind, and where it stands among its kind.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Type(u32);

/// A type, looked up.
pub(crate) enum Kind {
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    Bool,
    Char,
    F32,
    F64,
    String,
    /// The alias `json` of `string`.
    Json,
    Record(usize),
    Flags(usize),
    Tuple(usize),
    Variant(usize),
    Enum(usize),
    Option(usize),
    Result(usize),
    List(usize),
    /// No type: an absent payload or result.
    Empty,
    /// Resources, streams and futures: the host refuses worlds that have them.
    Unsupported,
}

#[repr(C)]
pub(crate) struct ImportFunction {
    interface: *const c_char,
    name: *const c_char,
    pub(crate) call: Option<unsafe extern "C" fn(*mut Context)>,
    pub(crate) start: Option<unsafe extern "C" fn(*mut Context, *mut u8) -> u32>,
    /// What `wit-dylib` would lift the results with. The engine does that itself.
    _lift: Option<unsafe extern "C" fn(*mut Context, *mut u8)>,
    parameters: Table<Type>,
    pub(crate) result: Type,
    pub(crate) area_size: usize,
    pub(crate) area_align: usize,
}

#[repr(C)]
pub(crate) struct ExportFunction {
    interface: *const c_char,
    name: *const c_char,
    pub(crate) task_return: Option<unsafe extern "C" fn(*mut Context)>,
    parameters: Table<Type>,
    pub(crate) result: Type,
}

#[repr(C)]
pub(crate) struct Named<T: 'static> {
    interface: *const c_char,
    name: *const c_char,
    items: Table<T>,
}

/// A field of a record or a case of a variant.
#[repr(C)]
pub(crate) struct Member {
    name: *const c_char,
    pub(crate) ty: Type,
}

#[repr(C)]
struct Wrapper {
    interface: *const c_char,
    name: *const c_char,
    ty: Type,
}

#[repr(C)]
struct ResultType {
    interface: *const c_char,
    name: *const c_char,
    ok: Type,
    err: Type,
}

#[repr(C)]
struct Table<T: 'static> {
    length: usize,
    start: *const T,
}

/// What a binding hands over when it is instantiated.
#[repr(C)]
pub(crate) struct Metadata {
    version: u32,
    imports: Table<ImportFunction>,
    exports: Table<ExportFunction>,
    resources: Table<u8>,
    records: Table<Named<Member>>,
    flags: Table<Named<*const c_char>>,
    tuples: Table<Named<Type>>,
    variants: Table<Named<Member>>,
    enums: Table<Named<*const c_char>>,
    options: Table<Wrapper>,
    results: Table<ResultType>,
    lists: Table<Wrapper>,
    fixed_length_lists: Table<u8>,
    futures: Table<u8>,
    streams: Table<u8>,
    aliases: Table<Wrapper>,
}

impl<T> Table<T> {
    fn slice(&self) -> &'static [T] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: the binding's data outlives the run and is never written.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

fn text(start: *const c_char) -> &'static str {
    if start.is_null() {
        return "";
    }
    // SAFETY: names in the tables are NUL-terminated and live as long as the binding's data.
    unsafe { CStr::from_ptr(start) }.to_str().unwrap_or("")
}

/// Whether a name in the tables is `expected`, or `expected` and a version. Ends at the first other byte.
fn is_text(mut start: *const c_char, expected: &str) -> bool {
    if start.is_null() {
        return false;
    }
    for byte in expected.bytes() {
        // SAFETY: the name is NUL-terminated, and no byte before this one was its end.
        if unsafe { *start } as u8 != byte {
            return false;
        }
        // SAFETY: as above; what is expected has no NUL.
        start = unsafe { start.add(1) };
    }
    // SAFETY: as above.
    matches!(unsafe { *start } as u8, 0 | b'@')
}

impl ImportFunction {
    /// Whether it is this function of this interface, whatever the interface's version. Most are told apart by a
    /// letter of their names.
    pub(crate) fn is(&self, interface: &str, name: &str) -> bool {
        is_text(self.name, name) && is_text(self.interface, interface)
    }

    pub(crate) fn interface(&self) -> &'static str {
        text(self.interface)
    }

    pub(crate) fn name(&self) -> &'static str {
        text(self.name)
    }

    pub(crate) fn parameters(&self) -> &'static [Type] {
        self.parameters.slice()
    }
}

impl ExportFunction {
    pub(crate) fn name(&self) -> &'static str {
        text(self.name)
    }

    pub(crate) fn interface(&self) -> &'static str {
        text(self.interface)
    }

    /// Whether it is one of the engine's own, rather than of a capability that a compiled script answers.
    pub(crate) fn is_engines(&self) -> bool {
        self.interface().starts_with("agent-spaces:engine/")
    }

    pub(crate) fn parameter_count(&self) -> usize {
        self.parameters.slice().len()
    }
}

impl Member {
    pub(crate) fn name(&self) -> &'static str {
        text(self.name)
    }
}

impl Metadata {
    pub(crate) fn is_supported(&self) -> bool {
        self.version == VERSION
    }

    pub(crate) fn imports(&self) -> &'static [ImportFunction] {
        self.imports.slice()
    }

    pub(crate) fn export(&self, which: usize) -> &'static ExportFunction {
        &self.exports.slice()[which]
    }

    pub(crate) fn record(&self, index: usize) -> &'static [Member] {
        self.records.slice()[index].items.slice()
    }

    pub(crate) fn record_count(&self) -> usize {
        self.records.length
    }

    /// The name that the WIT gives to a record.
    pub(crate) fn record_name(&self, index: usize) -> &'static str {
        text(self.records.slice()[index].name)
    }

    pub(crate) fn variant(&self, index: usize) -> &'static [Member] {
        self.variants.slice()[index].items.slice()
    }

    pub(crate) fn tuple(&self, index: usize) -> &'static [Type] {
        self.tuples.slice()[index].items.slice()
    }

    pub(crate) fn flag_names(&self, index: usize) -> impl ExactSizeIterator<Item = &'static str> + use<> {
        self.flags.slice()[index].items.slice().iter().map(|name| text(*name))
    }

    /// The strings that an enum's cases stand for.
    pub(crate) fn enum_names(&self, index: usize) -> impl ExactSizeIterator<Item = &'static str> + use<> {
        self.enums.slice()[index].items.slice().iter().map(|name| enum_text(text(*name)))
    }

    pub(crate) fn option(&self, index: usize) -> Type {
        self.options.slice()[index].ty
    }

    pub(crate) fn list(&self, index: usize) -> Type {
        self.lists.slice()[index].ty
    }

    /// The two payloads, `ok` first.
    pub(crate) fn result(&self, index: usize) -> (Type, Type) {
        let result = &self.results.slice()[index];
        (result.ok, result.err)
    }

    /// What `ty` is, through aliases.
    pub(crate) fn kind(&self, ty: Type) -> Kind {
        let index = (ty.0 >> 8) as usize;
        match ty.0 & 0xff {
            0 => Kind::U8,
            1 => Kind::U16,
            2 => Kind::U32,
            3 => Kind::U64,
            4 => Kind::S8,
            5 => Kind::S16,
            6 => Kind::S32,
            7 => Kind::S64,
            8 => Kind::Bool,
            9 => Kind::Char,
            10 => Kind::F32,
            11 => Kind::F64,
            12 => Kind::String,
            14 => Kind::Record(index),
            17 => Kind::Flags(index),
            18 => Kind::Tuple(index),
            19 => Kind::Variant(index),
            20 => Kind::Enum(index),
            21 => Kind::Option(index),
            22 => Kind::Result(index),
            23 => Kind::List(index),
            27 => {
                let alias = &self.aliases.slice()[index];
                match self.kind(alias.ty) {
                    Kind::String if text(alias.name) == "json" => Kind::Json,
                    kind => kind,
                }
            }
            0xff => Kind::Empty,
            _ => Kind::Unsupported,
        }
    }
}
