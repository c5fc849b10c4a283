//! Open brackets of a source, and the chains inside them.

/// State of one open bracket.
pub(super) struct Level {
    /// The opening bracket: `(`, `[`, `{`, `$` for `${`, or a backtick.
    pub(super) open: u8,
    /// Depth outside of it.
    pub(super) base: u32,
    /// Number of open brackets, this one included.
    pub(super) brackets: u32,
    /// Links of the current chain.
    pub(super) chain: u32,
    /// Links of enclosing statements, which a comma does not end.
    pub(super) statement_chain: u32,
    /// A comma occurred in the statement: a label can only come before one.
    pub(super) has_comma: bool,
    /// Open `<`, which may be type arguments; their commas do not end a chain.
    pub(super) angles: u32,
    /// The parentheses of `if (…)` and the like: an operand does not end with them.
    pub(super) is_head: bool,
    /// Number of times the parser may start to read this bracket, for guesses that multiply.
    pub(super) attempts: u64,
    /// Enclosing candidates for arrow functions.
    pub(super) arrows_outside: u64,
    /// `=>` and `):` in the current chain: what follows may be read again.
    pub(super) arrows: u64,
    /// `infer` in the current chain.
    pub(super) infers: u64,
}

impl Level {
    pub(super) fn new(open: u8) -> Self {
        Self {
            open,
            base: 0,
            brackets: 0,
            chain: 0,
            statement_chain: 0,
            has_comma: false,
            angles: 0,
            is_head: false,
            attempts: 1,
            arrows_outside: 0,
            arrows: 0,
            infers: 0,
        }
    }

    pub(super) fn end_chain(&mut self) {
        (self.chain, self.statement_chain, self.angles) = (0, 0, 0);
        (self.arrows, self.infers) = (0, 0);
        self.has_comma = false;
    }

    /// Returns how often the parser may start to read a bracket that opens here.
    pub(super) fn attempts_inside(&self) -> u64 {
        self.attempts.saturating_mul(1 + u64::from(self.angles) + self.infers)
    }

    /// Returns how often the parser may read a token here.
    pub(super) fn readings(&self) -> u64 {
        self.attempts_inside().saturating_mul(1 + self.arrows_outside + self.arrows)
    }
}
