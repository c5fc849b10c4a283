//! A value that was checked against its type and holds no JavaScript that could run.

use crate::js::Text;

pub(crate) enum Tree {
    Bool(bool),
    Signed(i64),
    /// Unsigned integers and flags.
    Unsigned(u64),
    Float(f64),
    Char(char),
    /// A script's string; UTF-8 was checked.
    Text(Text),
    /// Text of the engine's own making.
    Owned(String),
    Bytes(Vec<u8>),
    /// All of the engine's memory but its first byte: a list cannot begin at null.
    Memory,
    /// Items of a list, fields of a record or tuple, in order.
    Sequence(Vec<Tree>),
    /// A case of a variant, enum, option or result.
    Case(u32, Option<Box<Tree>>),
}

impl Tree {
    pub(crate) fn some(tree: Tree) -> Tree {
        Tree::Case(1, Some(Box::new(tree)))
    }

    pub(crate) const NONE: Tree = Tree::Case(0, None);

    /// `Some` text or none.
    pub(crate) fn optional_text(text: Option<String>) -> Tree {
        text.map_or(Tree::NONE, |text| Tree::some(Tree::Owned(text)))
    }

    /// The bytes of a text or byte list.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Tree::Text(text) => text.as_bytes(),
            Tree::Owned(text) => text.as_bytes(),
            Tree::Bytes(bytes) => bytes,
            _ => &[],
        }
    }
}
