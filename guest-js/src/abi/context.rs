//! The stack that one call's values pass through, in either direction.

use super::interpret::Flat;
use super::memory::Block;
use super::metadata::Type;
use crate::js::Value;
use crate::values::Tree;

/// One call of an imported or exported function.
pub(crate) struct Context {
    /// Checked values on their way to the host; the next to be popped is last.
    trees: Vec<Tree>,
    /// Values on their way from the host.
    values: Vec<Value>,
    /// Lists being filled: where each starts in `values`, and how many items it will have.
    lists: Vec<(usize, usize)>,
    /// Popped values whose memory the canonical ABI still reads.
    kept: Vec<Tree>,
    blocks: Vec<Block>,
    /// Memory for the parameters and results of a call that is answered at once.
    area: Option<Block>,
    /// Where the result will be, if it is in memory.
    pub(super) returned: *mut u8,
    /// What the imported function is called with.
    pub(super) flat: Flat,
    /// The function's result type: a `result` there is a return or a throw, not data.
    pub(crate) result: Type,
    /// Whether the outermost result was an `err`.
    pub(crate) failed: bool,
}

impl Context {
    pub(crate) fn new(result: Type) -> Context {
        Context {
            trees: Vec::new(),
            values: Vec::new(),
            lists: Vec::new(),
            kept: Vec::new(),
            blocks: Vec::new(),
            area: None,
            returned: std::ptr::null_mut(),
            flat: Flat::NONE,
            result,
            failed: false,
        }
    }

    pub(crate) fn push_value(&mut self, value: Value) {
        self.values.push(value);
    }

    /// The topmost value; undefined where there is none.
    pub(crate) fn pop_value(&mut self) -> Value {
        self.values.pop().unwrap_or(Value::UNDEFINED)
    }

    /// The topmost `count` values, first pushed first.
    pub(crate) fn pop_values(&mut self, count: usize) -> impl Iterator<Item = Value> + '_ {
        let start = self.values.len().saturating_sub(count);
        self.values.drain(start..)
    }

    pub(crate) fn begin_list(&mut self, length: usize) {
        self.lists.push((self.values.len(), length));
        self.values.reserve(length);
    }

    /// Says whether the innermost list now has all its items; if so, they are taken off the stack.
    pub(crate) fn complete_list(&mut self) -> Option<Vec<Value>> {
        let &(start, length) = self.lists.last()?;
        if self.values.len() < start + length {
            return None;
        }
        self.lists.pop();
        Some(self.values.split_off(start))
    }

    /// Pushes values so that the first of them is popped first.
    pub(crate) fn push_trees(&mut self, trees: impl DoubleEndedIterator<Item = Tree>) {
        self.trees.extend(trees.rev());
    }

    pub(crate) fn push_tree(&mut self, tree: Tree) {
        self.trees.push(tree);
    }

    /// The next checked value. The binding pops what the types say, which is what was checked.
    pub(crate) fn pop_tree(&mut self) -> Tree {
        self.trees.pop().unwrap_or(Tree::Bool(false))
    }

    pub(crate) fn top_tree(&mut self) -> Option<&mut Tree> {
        self.trees.last_mut()
    }

    /// Keeps a popped value's memory until the call is over, and gives it back to look at.
    pub(crate) fn keep(&mut self, tree: Tree) -> &Tree {
        self.kept.push(tree);
        &self.kept[self.kept.len() - 1]
    }

    /// Allocates the memory of the call's own parameters and results.
    pub(super) fn new_area(&mut self, size: usize, align: usize) -> *mut u8 {
        self.area.insert(Block::new(size, align)).start()
    }

    pub(crate) fn keep_block(&mut self, block: Block) {
        self.blocks.push(block);
    }
}
