//! Comments, strings, templates and regular expressions, whose brackets are not code.

use super::{Previous, Scan};

/// Scanned bytes that cost as much as one parsed token.
const BYTES_PER_TOKEN: u64 = 16;

impl Scan<'_> {
    /// U+2028 or U+2029 at an offset.
    pub(super) fn is_separator(&self, at: usize) -> bool {
        self.bytes.get(at) == Some(&0xE2)
            && self
                .bytes
                .get(at..at + 3)
                .is_some_and(|bytes| bytes == "\u{2028}".as_bytes() || bytes == "\u{2029}".as_bytes())
    }

    pub(super) fn line_comment(&mut self) {
        while self.at < self.bytes.len() && !matches!(self.peek(0), b'\n' | b'\r') && !self.is_separator(self.at) {
            self.at += 1;
        }
    }

    pub(super) fn block_comment(&mut self) {
        self.at += 2;
        while self.at < self.bytes.len() && !(self.peek(0) == b'*' && self.peek(1) == b'/') {
            self.after_newline |= matches!(self.peek(0), b'\n' | b'\r') || self.is_separator(self.at);
            self.at += 1;
        }
        self.at += 2;
    }

    pub(super) fn string(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += if self.peek(1) == b'\r' && self.peek(2) == b'\n' { 3 } else { 2 },
                // Unterminated; the parser stops here.
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

    /// Scans a template up to its end or the next `${`.
    pub(super) fn template(&mut self) {
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

    pub(super) fn slash(&mut self) {
        let is_division = match self.previous {
            Previous::Operand => true,
            Previous::Operator | Previous::Head => false,
            Previous::Unclear | Previous::Brace | Previous::Angle => {
                // If both readings give the same result, treat it as a division.
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
            // Unterminated; the parser stops here.
            None => self.operator(b'/'),
        }
    }

    /// Finds the end of a regular expression on this line. Searching counts as work: a long line may have many starts.
    fn regex_end(&mut self) -> Option<usize> {
        let mut at = self.at + 1;
        let mut in_class = false;
        let end = loop {
            match self.bytes.get(at) {
                None | Some(b'\n' | b'\r') => break None,
                Some(b'\\') => at += 1,
                Some(b'[') => in_class = true,
                Some(b']') => in_class = false,
                Some(b'/') if !in_class => break Some(at + 1),
                Some(_) if self.is_separator(at) => break None,
                Some(_) => {}
            }
            at += 1;
        };
        self.spend((at - self.at) as u64 / BYTES_PER_TOKEN);
        end
    }
}
