//! Token scan of a source.
//!
//! Counts open brackets, and within each the links that make a chain: operators, keywords and calls, which nest in
//! the syntax tree though no bracket shows it (`a + b + c`, `!!!x`, `if … else if …`). A chain ends with its
//! statement or list element.
//!
//! A token counts as often as the parser may read it:
//! - `(…)` may be an arrow function's parameters. The parser caches wrong guesses, so each is tried once: a token is
//!   read once more for each of them around it, and for each `=>` or `):` before it in its chain. These add up.
//! - `<` may begin type arguments, `infer X extends` a constraint, and `({` or `([` the parameters of a function type.
//!   These are tried anew each time, so nested ones multiply.

mod level;
mod text;

use crate::words::{Role, is_modifier, role, starts_statement};
use crate::{Bound, Exceeded, Limits};
use level::Level;

pub(crate) fn bound(source: &str, limits: Limits) -> Result<Bound, Exceeded> {
    let mut scan = Scan {
        bytes: source.as_bytes(),
        at: 0,
        levels: vec![Level::new(b'{')],
        previous: Previous::Operator,
        after_newline: false,
        ends_statement: false,
        after_dot: false,
        after_paren: false,
        after_type_paren: false,
        is_lost: false,
        deepest: 0,
        most_brackets: 0,
        work: 0,
    };
    while scan.at < scan.bytes.len() {
        scan.step();
        let at = scan.at.min(source.len()).saturating_sub(1) as u32;
        if scan.most_brackets > limits.brackets {
            return Err(Exceeded::Brackets(at));
        }
        if scan.deepest > limits.depth {
            return Err(Exceeded::Depth(at));
        }
        if scan.work > limits.work {
            return Err(Exceeded::Work(at));
        }
    }
    Ok(Bound { depth: scan.deepest, work: scan.work })
}

/// Last token, as far as it affects the meaning of the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Previous {
    /// The end of an operand: what follows continues or ends the expression.
    Operand,
    /// An operator, separator, opening bracket or reserved word: an operand follows.
    Operator,
    /// A reserved word whose parentheses do not end an operand.
    Head,
    /// Either, depending on what was parsed.
    Unclear,
    /// `}`.
    Brace,
    /// `>`: the end of type arguments, or a comparison.
    Angle,
}

struct Scan<'s> {
    bytes: &'s [u8],
    at: usize,
    levels: Vec<Level>,
    previous: Previous,
    after_newline: bool,
    /// A semicolon was last; the chain ends unless `else` and the like continue it.
    ends_statement: bool,
    after_dot: bool,
    /// A `)` was last.
    after_paren: bool,
    /// A `(` that is no call's was last, but for modifiers: a pattern that follows is read to tell what it is.
    after_type_paren: bool,
    /// Tokenization is unreliable from here: count everything, close nothing.
    is_lost: bool,
    deepest: u32,
    most_brackets: u32,
    work: u64,
}

impl Scan<'_> {
    fn spend(&mut self, work: u64) {
        self.work = self.work.saturating_add(work);
    }

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

    fn link(&mut self) {
        let level = self.top();
        level.chain += 1;
        let depth = level.base + level.chain;
        self.deepest = self.deepest.max(depth);
    }

    fn step(&mut self) {
        let byte = self.peek(0);
        if self.is_lost {
            return self.lost_step(byte);
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
            0xE2 if self.is_separator(self.at) => {
                self.after_newline = true;
                self.at += 3;
                return;
            }
            b'/' if self.peek(1) == b'/' => return self.line_comment(),
            b'/' if self.peek(1) == b'*' => return self.block_comment(),
            _ => {}
        }
        let is_word = is_word_byte(byte) || byte == b'\\' || byte == b'#';
        let (start, is_call) = (self.at, self.previous == Previous::Operand);
        if self.ends_statement && !is_word {
            self.top().end_chain();
        }
        match byte {
            _ if is_word => self.word(),
            b'"' | b'\'' => self.string(byte),
            b'`' => {
                self.open(b'`', false);
                self.at += 1;
                self.template();
            }
            b'/' => self.slash(),
            _ => self.punctuator(byte),
        }
        self.after_newline = false;
        self.after_dot = byte == b'.';
        self.after_paren = byte == b')';
        self.after_type_paren = match byte {
            b'(' => !is_call,
            _ if is_word => self.after_type_paren && is_modifier(self.bytes.get(start..self.at).unwrap_or_default()),
            _ => false,
        };
        self.ends_statement = byte == b';';
        let readings = self.top().readings();
        self.spend(readings);
    }

    /// Counts a byte that may be code or text: nothing closes, and every `<` may begin type arguments.
    fn lost_step(&mut self, byte: u8) {
        self.at += 1;
        if byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() {
            return;
        }
        self.link();
        let level = self.top();
        match byte {
            b'<' => level.angles += 1,
            b'(' | b'[' | b'{' => {
                level.attempts = level.attempts_inside();
                level.arrows += 1;
            }
            b'>' | b':' => level.arrows += 1,
            _ => {}
        }
        let readings = level.readings();
        self.spend(readings);
    }

    fn open(&mut self, open: u8, is_head: bool) {
        self.link();
        let level = self.top();
        let (base, brackets) = (level.base + level.chain, level.brackets + level.angles + 1);
        let mut attempts = level.attempts_inside();
        let arrows_outside = level.arrows_outside + level.arrows + u64::from(open == b'(');
        if self.after_type_paren && matches!(open, b'{' | b'[') {
            attempts = attempts.saturating_mul(2);
        }
        self.levels.push(Level { base, brackets, is_head, attempts, arrows_outside, ..Level::new(open) });
        self.most_brackets = self.most_brackets.max(brackets);
        self.previous = Previous::Operator;
    }

    fn close(&mut self, byte: u8) {
        self.at += 1;
        let open = self.top().open;
        let is_matched =
            self.levels.len() > 1 && matches!((open, byte), (b'(', b')') | (b'[', b']') | (b'{' | b'$', b'}'));
        if !is_matched {
            return;
        }
        let is_head = self.top().is_head;
        self.levels.pop();
        self.previous = match byte {
            b'}' => Previous::Brace,
            _ if is_head => Previous::Operator,
            _ => Previous::Operand,
        };
        if open == b'$' {
            // Substitutions are siblings, so the next one starts anew.
            self.top().end_chain();
            self.template();
        }
    }

    fn punctuator(&mut self, byte: u8) {
        match byte {
            b'(' => {
                let is_head = self.previous == Previous::Head;
                self.at += 1;
                self.open(b'(', is_head);
            }
            b'[' | b'{' => {
                self.at += 1;
                self.open(byte, false);
            }
            b')' | b']' | b'}' => self.close(byte),
            b';' => {
                self.at += 1;
                self.previous = Previous::Operator;
            }
            b',' => {
                self.at += 1;
                let level = self.top();
                level.has_comma = true;
                if level.angles == 0 {
                    level.chain = if matches!(level.open, b'(' | b'[') { 0 } else { level.statement_chain };
                    (level.arrows, level.infers) = (0, 0);
                }
                self.previous = Previous::Operator;
            }
            _ => self.operator(byte),
        }
    }

    fn operator(&mut self, byte: u8) {
        let last = self.at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied().unwrap_or(0);
        let is_tail = match byte {
            b'=' | b'&' | b'|' | b'?' | b'*' | b'.' => last == byte,
            b'>' => last == b'=' || last == b'>',
            _ => false,
        };
        if !is_tail {
            self.link();
        }
        let (after_newline, after_paren) = (self.after_newline, self.after_paren);
        let level = self.top();
        if (byte == b'>' && last == b'=') || (byte == b':' && after_paren) {
            level.arrows += 1;
        }
        match byte {
            b'<' => level.angles += 1,
            b'>' if last != b'=' => level.angles = level.angles.saturating_sub(1),
            // May be a label, which encloses the next statement.
            b':' if level.open == b'{' && !level.has_comma => level.statement_chain = level.chain,
            _ => {}
        }
        let brackets = level.brackets + level.angles;
        self.most_brackets = self.most_brackets.max(brackets);
        let is_double = matches!(byte, b'+' | b'-') && self.peek(1) == byte;
        if is_double {
            self.link();
        }
        self.at += if is_double { 2 } else { 1 };
        self.previous = match byte {
            // `a!` and `a++` end an operand, `!a` and `++a` begin one.
            _ if (is_double || byte == b'!') && self.previous != Previous::Operator => match self.previous {
                Previous::Operand if after_newline => Previous::Operator,
                Previous::Operand => Previous::Operand,
                _ => Previous::Unclear,
            },
            b'>' if last != b'=' => Previous::Angle,
            _ => Previous::Operator,
        };
    }

    fn word(&mut self) {
        let start = self.at;
        while is_word_byte(self.peek(0)) || matches!(self.peek(0), b'\\' | b'#') {
            if self.is_separator(self.at) {
                break;
            }
            self.at += 1;
        }
        // `1.5` and `1.`, but not the range of `1..x`.
        if self.bytes.get(start).is_some_and(u8::is_ascii_digit) && self.peek(0) == b'.' {
            self.at += 1;
        }
        // A non-ASCII character that is no letter.
        self.at = self.at.max(start + 1);
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        let role = if self.after_dot { Role::Operand } else { role(word) };
        let ends_chain = match role {
            Role::Continues => false,
            Role::Clause => true,
            _ if self.ends_statement => true,
            _ => match self.previous {
                Previous::Brace => true,
                Previous::Operand => self.after_newline,
                // Not an operand, so no comparison.
                Previous::Angle => self.after_newline && (starts_statement(word) || self.declares(word)),
                _ => false,
            },
        };
        if ends_chain {
            self.top().end_chain();
        }
        if role != Role::Operand {
            self.link();
        }
        let infers = u64::from(word == b"infer");
        self.top().infers += infers;
        if matches!(role, Role::Head | Role::Continues | Role::Statement) {
            let level = self.top();
            level.statement_chain = level.chain;
        }
        self.previous = match role {
            Role::Operand => Previous::Operand,
            Role::Head => Previous::Head,
            Role::Contextual => Previous::Unclear,
            Role::Continues if matches!(word, b"while" | b"catch") => Previous::Head,
            Role::Continues if matches!(word, b"as" | b"satisfies" | b"is" | b"of" | b"from" | b"implements") => {
                Previous::Unclear
            }
            Role::Continues | Role::Statement | Role::Clause | Role::Reserved => Previous::Operator,
        };
    }

    /// True if the last word and a name after it start a declaration. A name alone could be an operand.
    fn declares(&self, word: &[u8]) -> bool {
        let is_declaring = matches!(
            word,
            b"type" | b"interface" | b"declare" | b"namespace" | b"module" | b"abstract" | b"let" | b"enum"
        );
        let next = self.bytes.get(self.at..).unwrap_or_default();
        let name = next.strip_prefix(b" ").unwrap_or_default();
        let length = name.iter().take_while(|byte| is_word_byte(**byte)).count();
        is_declaring && length > 0 && role(name.get(..length).unwrap_or_default()) != Role::Continues
    }
}

/// ASCII letters, digits, `_`, `$`, and every byte of a non-ASCII character.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
