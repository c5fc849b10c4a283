//! An upper bound of how deep the parser recurses into a source, found without recursion.
//!
//! Counts open brackets, and within each the links that make a chain: operators, keywords and calls, which nest in
//! the syntax tree though no bracket shows it (`a + b + c`, `!!!x`, `if … else if …`). A chain ends with its
//! statement or list element. The bound may be too high, never too low: whatever cannot be told apart without
//! parsing (is this `/` a division?) is counted both ways.

/// How deep a source may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Brackets inside one another.
    pub(super) brackets: u32,
    /// Brackets and links of chains together: how deep the syntax tree is.
    pub(super) total: u32,
}

/// Where a source is deeper than it may be, and which limit that was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TooDeep {
    Brackets(u32),
    Total(u32),
}

/// A bound of the depth of the syntax tree.
pub(super) fn bound(source: &str, limits: Limits) -> Result<u32, TooDeep> {
    let mut scan = Scan {
        bytes: source.as_bytes(),
        at: 0,
        levels: vec![Level::new(b'{')],
        previous: Previous::Operator,
        after_newline: false,
        ends_statement: false,
        after_dot: false,
        is_lost: false,
        deepest: 0,
        most_brackets: 0,
    };
    while scan.at < scan.bytes.len() {
        scan.step();
        let at = scan.at.min(source.len()).saturating_sub(1) as u32;
        if scan.most_brackets > limits.brackets {
            return Err(TooDeep::Brackets(at));
        }
        if scan.deepest > limits.total {
            return Err(TooDeep::Total(at));
        }
    }
    Ok(scan.deepest)
}

/// What stands inside one bracket, up to here.
struct Level {
    /// The opening bracket: `(`, `[`, `{`, `$` for `${`, or a backtick.
    open: u8,
    /// The depth outside.
    base: u32,
    /// The brackets outside, this one included.
    brackets: u32,
    /// The links of the current chain.
    chain: u32,
    /// The links that belong to statements around the current expression, which a comma does not end.
    statement_chain: u32,
    /// Open `<`, which may be type arguments; their commas do not end a chain.
    angles: u32,
    /// The parentheses of `if (…)` and the like: an operand does not end with them.
    is_head: bool,
}

impl Level {
    fn new(open: u8) -> Self {
        Self { open, base: 0, brackets: 0, chain: 0, statement_chain: 0, angles: 0, is_head: false }
    }

    fn end_chain(&mut self) {
        (self.chain, self.statement_chain, self.angles) = (0, 0, 0);
    }
}

/// What the last token was, as far as the next one's meaning depends on it.
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

    fn link(&mut self) {
        let level = self.top();
        level.chain += 1;
        let depth = level.base + level.chain;
        self.deepest = self.deepest.max(depth);
    }

    fn step(&mut self) {
        let byte = self.peek(0);
        if self.is_lost {
            if !byte.is_ascii_alphanumeric() && !byte.is_ascii_whitespace() {
                self.link();
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
        self.ends_statement = byte == b';';
    }

    /// U+2028 or U+2029 at an offset.
    fn is_separator(&self, at: usize) -> bool {
        self.bytes.get(at..at + 3).is_some_and(|bytes| bytes == "\u{2028}".as_bytes() || bytes == "\u{2029}".as_bytes())
    }

    fn line_comment(&mut self) {
        while self.at < self.bytes.len() && !matches!(self.peek(0), b'\n' | b'\r') && !self.is_separator(self.at) {
            self.at += 1;
        }
    }

    fn block_comment(&mut self) {
        self.at += 2;
        while self.at < self.bytes.len() && !(self.peek(0) == b'*' && self.peek(1) == b'/') {
            self.after_newline |= matches!(self.peek(0), b'\n' | b'\r') || self.is_separator(self.at);
            self.at += 1;
        }
        self.at += 2;
    }

    fn string(&mut self, quote: u8) {
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
        self.previous = Previous::Operand;
    }

    /// The text of a template up to its end or the next `${`.
    fn template(&mut self) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    self.levels.pop();
                    self.previous = Previous::Operand;
                    return;
                }
                b'$' if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.open(b'$', false);
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn open(&mut self, open: u8, is_head: bool) {
        self.link();
        let level = self.top();
        let (base, brackets) = (level.base + level.chain, level.brackets + level.angles + 1);
        self.levels.push(Level { base, brackets, is_head, ..Level::new(open) });
        self.most_brackets = self.most_brackets.max(brackets);
        self.previous = Previous::Operator;
    }

    fn close(&mut self, byte: u8) {
        self.at += 1;
        let open = self.top().open;
        let is_matched = self.levels.len() > 1 && matches!((open, byte), (b'(', b')') | (b'[', b']') | (b'{' | b'$', b'}'));
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
            // Substitutions stand side by side, so the next one starts anew.
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
                if level.angles == 0 {
                    level.chain = if matches!(level.open, b'(' | b'[') { 0 } else { level.statement_chain };
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
        let after_newline = self.after_newline;
        let level = self.top();
        match byte {
            b'<' => level.angles += 1,
            b'>' if last != b'=' => level.angles = level.angles.saturating_sub(1),
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
        // Something outside of ASCII that is no letter.
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

    /// Whether the word just read and a name after it start a declaration. A name alone could be an operand.
    fn declares(&self, word: &[u8]) -> bool {
        let is_declaring =
            matches!(word, b"type" | b"interface" | b"declare" | b"namespace" | b"module" | b"abstract" | b"let" | b"enum");
        let next = self.bytes.get(self.at..).unwrap_or_default();
        let name = next.strip_prefix(b" ").unwrap_or_default();
        let length = name.iter().take_while(|byte| is_word_byte(**byte)).count();
        is_declaring && length > 0 && role(name.get(..length).unwrap_or_default()) != Role::Continues
    }

    fn slash(&mut self) {
        let is_division = match self.previous {
            Previous::Operand => true,
            Previous::Operator | Previous::Head => false,
            Previous::Unclear | Previous::Brace | Previous::Angle => {
                // Where both readings come to the same, it is taken for a division.
                let end = self.regex_end();
                let text = end.and_then(|end| self.bytes.get(self.at..end)).unwrap_or_default();
                if text.iter().any(|byte| b"\"'`()[]{}\\".contains(byte)) {
                    self.is_lost = true;
                    return;
                }
                true
            }
        };
        if is_division {
            self.operator(b'/');
            return;
        }
        match self.regex_end() {
            Some(end) => {
                self.at = end;
                self.previous = Previous::Operand;
            }
            // Not a regular expression after all; the parser stops at it.
            None => self.operator(b'/'),
        }
    }

    /// Where a regular expression that starts here ends, if it ends on this line.
    fn regex_end(&self) -> Option<usize> {
        let mut at = self.at + 1;
        let mut in_class = false;
        loop {
            match self.bytes.get(at)? {
                b'\n' | b'\r' => return None,
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => return Some(at + 1),
                _ if self.is_separator(at) => return None,
                _ => {}
            }
            at += 1;
        }
    }
}

/// ASCII letters, digits, `_`, `$`, and every byte of a non-ASCII character.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Words that are never part of an expression.
fn starts_statement(word: &[u8]) -> bool {
    matches!(word, b"const" | b"var" | b"export" | b"if" | b"for" | b"return" | b"throw" | b"switch" | b"try" | b"do")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A name or literal.
    Operand,
    /// Continues what is before it, even on another line or after a block.
    Continues,
    /// Starts a statement with a head in parentheses and a body that may be such a statement again.
    Head,
    /// Starts a statement whose body may be such a statement again.
    Statement,
    /// Starts a clause of a `switch`, side by side with the others.
    Clause,
    /// Needs an operand or a declaration after it.
    Reserved,
    /// Such a word, or a name.
    Contextual,
}

fn role(word: &[u8]) -> Role {
    match word {
        b"else" | b"while" | b"catch" | b"finally" | b"as" | b"satisfies" | b"in" | b"instanceof" | b"of" | b"is"
        | b"extends" | b"implements" | b"from" => Role::Continues,
        b"if" | b"for" | b"with" | b"switch" => Role::Head,
        // The parentheses of `for await (…)`.
        b"await" => Role::Head,
        b"do" | b"try" => Role::Statement,
        b"case" => Role::Clause,
        b"return" | b"throw" | b"typeof" | b"void" | b"delete" | b"new" | b"class" | b"function" | b"export"
        | b"import" | b"enum" | b"yield" => Role::Reserved,
        b"async" | b"abstract" | b"asserts" | b"declare" | b"keyof" | b"unique" | b"readonly" | b"infer" | b"namespace"
        | b"module" | b"type" | b"interface" | b"get" | b"set" | b"static" | b"accessor" | b"using" | b"out"
        | b"override" | b"public" | b"private" | b"protected" | b"global" | b"let" | b"const" | b"var" | b"default"
        | b"defer" | b"source" | b"assert" => Role::Contextual,
        _ => Role::Operand,
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, TooDeep, bound};

    fn depth(source: &str) -> u32 {
        bound(source, Limits { brackets: u32::MAX, total: u32::MAX }).unwrap_or(u32::MAX)
    }

    /// Each nests once more with every repetition, so the bound must grow with them.
    #[test]
    fn no_nesting_escapes() {
        let nesting = [
            "(", "[", "{", "!", "~", "-", "- ", "+ ", "a.", "a?.b.", "a()", "a[0]", "a+", "a ? b : ", "a ? ", "a=>", "a=",
            "a**", "typeof ", "void ", "await ", "new ", "if(a)", "if(a)b;else ", "if(a)b,c;else ", "if(a){}else ",
            "if(a){}\nelse\n", "if(a)b\nelse ", "for(;;)", "for(;;)\n", "for await(a of b)\n", "while(a)\n", "do\n",
            "do a;while(b)", "l:", "l:\n", "with(a)\n", "`${", "`${`a${b}`+", "a`b`", "a<b<", "a<b,c<", "x as a as ",
            "x!", "x\n!", "class extends ", "function(){", "class{a(){", "()=>", "async()=>", "async a=>", "yield ",
            "{a:", "[a,", "f(a,", "a,(", "keyof ", "infer a extends ", "a extends b ? c : ", "a?b:c?d:", "`a`+", "\"a\"+",
            "/a/+", "a/b/", "a/b/(", "}/\"/+(", ")/[(]/+[", "a>/\"/+[", "of/`/+(", "//\u{2028}(", "'\\\r\n'+", "/*\n*/(",
            "++", "- -", "if(a)/b\"/;else ", "a.if/b+", "a\n(", "a\n[", "@a ", "namespace a{", "a!/b/(", "case/\"/+(", "a<1+1>\n", "a>\ntype>\n", "x as const as\n", "a>\nlet as b>\n",
        ];
        for part in nesting {
            let (few, many) = (depth(&part.repeat(100)), depth(&part.repeat(1100)));
            assert!(many >= few + 1000, "{part:?}: {few} at 100, {many} at 1100");
        }
    }

    /// Each stands beside the one before, so the bound must stay small however many there are.
    #[test]
    fn what_does_not_nest_is_not_counted() {
        let flat = [
            "a.b(c);", "a.b(c)\n", "a = b + c\n", "if (a) { b } else { c }\n", "if (a) b\n", "const a = { b: 1, c: [1, 2] }\n",
            "function f(a: B<C, D>): E { return `${a} ${b}` }\n", "class A<T> extends B { x = 1; y() {} }\n", "type A = B\n",
            "interface A { b: c; d(): e }\n", "// (((\n", "/* ((( */", "'((('\n", "`(((`;\n", "x = /[(]/.test(y)\n", "a++\n",
            "switch (a) { case 1: b; break; default: c }\n", "for (const a of b) c\n", "export const a = (b) => c / d\n",
            "import { a } from 'b'\n", "x! / y\n", "try { a } catch (b) { c } finally { d }\n", "'use strict'\n",
            "private x = 1\n", "#x = 1\n", "foo<T>(bar)\n", "type A = B<C, D>\n", "const a: B = c<D>\n", "export type A = B<C>\n",
        ];
        for part in flat {
            let many = depth(&part.repeat(2000));
            assert!(many <= 20, "{part:?}: {many}");
        }
        let list = [("[", "{ a: b < c, d: e.f(g) },", "]"), ("({", "a: 1 + 2,\n", "})"), ("switch(a){", "case 1:\n", "}")];
        for (open, part, close) in list {
            let many = depth(&format!("{open}{}{close}", part.repeat(2000)));
            assert!(many <= 20, "{part:?}: {many}");
        }
        let template = format!("`{}`", "${a.b(c)} ".repeat(2000));
        assert!(depth(&template) <= 20);
    }

    #[test]
    fn the_limit_names_where_it_was_passed() {
        let limits = Limits { brackets: 3, total: 6 };
        assert_eq!(bound("x = (((1)))", limits), Ok(4));
        assert_eq!(bound("x = ((((1))))", limits), Err(TooDeep::Brackets(7)));
        assert_eq!(bound("x = a<b<c<d<e", limits), Err(TooDeep::Brackets(11)));
        assert_eq!(bound("a.b.c.d.e.f.g.h", limits), Err(TooDeep::Total(13)));
        assert_eq!(bound("a.b.c.d;a.b.c.d;[a.b.c.d, a.b.c.d]", limits), Ok(4));
    }
}
