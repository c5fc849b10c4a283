//! An upper bound of how deep the parser recurses into a file, found without recursion.
//!
//! Every token may be a level of its own (`!!!x`, `a + b + c`, `else if`), so all tokens are counted, and the count
//! starts anew where a statement or list element ends and drops back where a bracket closes. The bound may be far too
//! high, as in code without semicolons, but never too low: whatever cannot be told apart without parsing (is this `/`
//! a division?) is counted both ways.

use super::fault::Fault;

/// The most brackets (type arguments included) inside one another. Hand-written code stays below 50. The parser tries
/// some of them twice, which takes time with the square of their number.
const MAX_BRACKETS: u32 = 200;

/// The most tokens in one chain, those around its brackets included. It is what the largest stack is made for.
pub(super) const MAX_DEPTH: u32 = 8_000;

/// How far the end of what may be a regular expression is looked for: looking must not take time with the square of
/// the file.
const MAX_REGEX_BYTES: usize = 256;

/// A bound of the depth of the syntax tree.
pub(super) fn bound(text: &str) -> Result<u32, Fault> {
    let mut scan = Scan { bytes: text.as_bytes(), levels: vec![Level::new(b'{')], ..Scan::default() };
    while scan.at < scan.bytes.len() {
        let at = scan.at as u32;
        scan.step();
        if scan.most_brackets > MAX_BRACKETS {
            return Err(Fault::new(
                at,
                format!("brackets nest deeper than {MAX_BRACKETS} levels"),
                "split the deepest part into named constants, types or functions",
            ));
        }
        if scan.deepest > MAX_DEPTH {
            return Err(Fault::new(
                at,
                format!("a chain of more than {MAX_DEPTH} tokens without an end"),
                "end statements with semicolons, and split long ones",
            ));
        }
    }
    Ok(scan.deepest)
}

/// What stands inside one bracket, up to here.
#[derive(Default)]
struct Level {
    /// The opening bracket: `(`, `[`, `{`, `$` for `${`, or a backtick.
    open: u8,
    /// The depth outside.
    base: u32,
    /// The brackets outside, this one included.
    brackets: u32,
    /// The tokens of the current chain.
    chain: u32,
    /// The tokens that belong to statements around the current expression, which a comma does not end.
    statement_chain: u32,
    /// Open `<`, which may be type arguments; their commas do not end a chain.
    angles: u32,
}

impl Level {
    fn new(open: u8) -> Self {
        Self { open, ..Self::default() }
    }
}

/// What a token was, as far as the meaning of the next ones depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Token {
    /// An operator or opening bracket after which an operand comes: a `/` starts a regular expression.
    #[default]
    Operator,
    /// A name, number or string: a `/` on the same line divides.
    Word,
    Colon,
    /// The `}` of a block, an object or a type.
    Brace,
    /// Anything else.
    Unclear,
}

#[derive(Default)]
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    levels: Vec<Level>,
    previous: Token,
    before_previous: Token,
    after_newline: bool,
    after_dot: bool,
    /// A semicolon was last; the chain ends unless `else` or `while` continues it.
    ends_statement: bool,
    /// Nothing that follows can be trusted to be what it looks like: count everything, close nothing.
    is_lost: bool,
    deepest: u32,
    most_brackets: u32,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn top(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::new(b'{'));
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn count(&mut self) {
        let level = self.top();
        level.chain += 1;
        let depth = level.base + level.chain;
        self.deepest = self.deepest.max(depth);
    }

    fn step(&mut self) {
        let byte = self.peek(0);
        if self.is_lost {
            if !byte.is_ascii_whitespace() {
                self.count();
            }
            self.at += 1;
            return;
        }
        match byte {
            b'\n' | b'\r' => {
                self.after_newline = true;
                self.at += 1;
                return;
            }
            b' ' | b'\t' | 0x0B | 0x0C => {
                self.at += 1;
                return;
            }
            b'/' if self.peek(1) == b'/' => return self.line_comment(),
            b'/' if self.peek(1) == b'*' => return self.block_comment(),
            _ => {}
        }
        let start = self.at;
        let token = match byte {
            _ if is_word_byte(byte) => self.word(),
            // A letter, or white space that `else` may follow.
            0x80.. => {
                self.at += 1;
                self.count();
                (self.previous, self.after_newline) = (Token::Unclear, true);
                return;
            }
            b'"' | b'\'' => {
                self.end_statement();
                self.string(byte)
            }
            b'`' => {
                self.end_statement();
                self.at += 1;
                self.open(b'`');
                self.template()
            }
            b'/' => {
                self.end_statement();
                self.slash()
            }
            _ => {
                self.end_statement();
                self.punctuator(byte)
            }
        };
        self.count();
        self.before_previous = std::mem::replace(&mut self.previous, token);
        self.after_newline = false;
        self.after_dot = byte == b'.' && self.at == start + 1;
        self.ends_statement = byte == b';';
    }

    /// Ends the chain where a semicolon did.
    fn end_statement(&mut self) {
        if self.ends_statement {
            self.end_chain();
        }
    }

    fn end_chain(&mut self) {
        let level = self.top();
        (level.chain, level.statement_chain, level.angles) = (0, 0, 0);
    }

    fn word(&mut self) -> Token {
        let start = self.at;
        while is_word_byte(self.peek(0)) {
            self.at += 1;
        }
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        let is_name = self.after_dot;
        if is_name || !matches!(word, b"else" | b"while") {
            self.end_statement();
        }
        if self.previous == Token::Brace && !continues(word) {
            self.end_chain();
        }
        if !is_name && is_statement(word) {
            let level = self.top();
            level.statement_chain = level.chain + 1;
        }
        match word {
            _ if is_name => Token::Word,
            b"return" | b"typeof" | b"case" | b"throw" | b"void" | b"delete" => Token::Operator,
            b"in" | b"of" | b"await" | b"yield" | b"else" | b"do" | b"instanceof" | b"new" | b"async" | b"as"
            | b"satisfies" | b"extends" | b"default" | b"is" | b"keyof" | b"infer" => Token::Unclear,
            _ => Token::Word,
        }
    }

    fn open(&mut self, open: u8) {
        let level = self.top();
        let (base, brackets) = (level.base + level.chain + 1, level.brackets + level.angles + 1);
        level.chain += 1;
        self.levels.push(Level { base, brackets, ..Level::new(open) });
        self.most_brackets = self.most_brackets.max(brackets);
    }

    fn close(&mut self, byte: u8) -> Token {
        let open = self.top().open;
        let is_matched = matches!((open, byte), (b'(', b')') | (b'[', b']') | (b'{' | b'$', b'}'));
        if self.levels.len() > 1 && is_matched {
            self.levels.pop();
            match open {
                b'$' => return self.template(),
                b'{' => return Token::Brace,
                _ => {}
            }
        }
        Token::Unclear
    }

    fn punctuator(&mut self, byte: u8) -> Token {
        let last = self.at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied().unwrap_or(0);
        self.at += 1;
        match byte {
            b'(' | b'[' | b'{' => {
                self.open(byte);
                Token::Operator
            }
            b')' | b']' | b'}' => self.close(byte),
            b';' => Token::Operator,
            b',' => {
                let level = self.top();
                if level.angles == 0 {
                    level.chain = level.statement_chain;
                }
                Token::Operator
            }
            b':' => {
                // `a: b: c: x`: labels, which are statements around one another.
                if self.previous == Token::Word && self.before_previous == Token::Colon {
                    let level = self.top();
                    level.statement_chain = level.chain + 1;
                }
                Token::Colon
            }
            b'<' => {
                let level = self.top();
                level.angles += 1;
                let brackets = level.brackets + level.angles;
                self.most_brackets = self.most_brackets.max(brackets);
                Token::Operator
            }
            b'>' if last == b'=' => Token::Operator,
            b'>' => {
                let level = self.top();
                level.angles = level.angles.saturating_sub(1);
                Token::Unclear
            }
            b'=' | b'&' | b'|' | b'?' | b'*' | b'%' | b'^' | b'~' => Token::Operator,
            // `a!`, `a++` and `a--` end an operand, `!a`, `++a` and `--a` begin one.
            _ => Token::Unclear,
        }
    }

    fn line_comment(&mut self) {
        while self.at < self.bytes.len() && !matches!(self.peek(0), b'\n' | b'\r') && !self.is_separator(self.at) {
            self.at += 1;
        }
    }

    fn block_comment(&mut self) {
        self.at += 2;
        while self.at < self.bytes.len() && !(self.peek(0) == b'*' && self.peek(1) == b'/') {
            self.at += 1;
        }
        self.at += 2;
        self.after_newline = true;
    }

    fn string(&mut self, quote: u8) -> Token {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += if self.peek(1) == b'\r' && self.peek(2) == b'\n' { 3 } else { 2 },
                // Not a string after all; the parser stops at it.
                b'\n' | b'\r' => break,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        break;
                    }
                }
            }
        }
        Token::Word
    }

    /// The text of a template up to its end or the next `${`.
    fn template(&mut self) -> Token {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    self.levels.pop();
                    return Token::Unclear;
                }
                b'$' if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.open(b'$');
                    return Token::Operator;
                }
                _ => self.at += 1,
            }
        }
        Token::Unclear
    }

    fn slash(&mut self) -> Token {
        let division = |scan: &mut Self| {
            scan.at += 1;
            Token::Operator
        };
        if self.previous == Token::Word && !self.after_newline {
            return division(self);
        }
        let end = match self.regex_end() {
            Ok(Some(end)) => end,
            // Not a regular expression; the parser stops where it expects one.
            Ok(None) => return division(self),
            Err(()) => {
                self.is_lost = true;
                return Token::Unclear;
            }
        };
        if matches!(self.previous, Token::Operator | Token::Colon) {
            self.at = end;
            return Token::Word;
        }
        // Where both readings come to the same, it is taken for a division.
        let inside = self.bytes.get(self.at..end).unwrap_or_default();
        self.is_lost = inside.iter().any(|byte| b"\"'`()[]{}<>,;\\".contains(byte));
        division(self)
    }

    /// Where a regular expression that starts here ends, if it ends on this line.
    fn regex_end(&self) -> Result<Option<usize>, ()> {
        let mut in_class = false;
        let mut at = self.at + 1;
        while at < self.at + MAX_REGEX_BYTES {
            match self.bytes.get(at) {
                None | Some(b'\n' | b'\r') => return Ok(None),
                Some(b'\\') => at += 1,
                Some(b'[') => in_class = true,
                Some(b']') => in_class = false,
                Some(b'/') if !in_class => return Ok(Some(at + 1)),
                _ if self.is_separator(at) => return Ok(None),
                _ => {}
            }
            at += 1;
        }
        Err(())
    }

    /// U+2028 or U+2029 at an offset: they end lines.
    fn is_separator(&self, at: usize) -> bool {
        self.bytes.get(at..at + 3).is_some_and(|bytes| matches!(bytes, [0xE2, 0x80, 0xA8 | 0xA9]))
    }
}

/// Words that start a statement, or a part of one, with another statement in it.
fn is_statement(word: &[u8]) -> bool {
    matches!(
        word,
        b"if" | b"else" | b"for" | b"while" | b"do" | b"with" | b"switch" | b"case" | b"default" | b"try" | b"finally"
    )
}

/// Words that continue what a `}` before them seems to end.
fn continues(word: &[u8]) -> bool {
    matches!(
        word,
        b"else"
            | b"while"
            | b"catch"
            | b"finally"
            | b"as"
            | b"satisfies"
            | b"in"
            | b"instanceof"
            | b"of"
            | b"is"
            | b"extends"
            | b"implements"
            | b"from"
    )
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}
