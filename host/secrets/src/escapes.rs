//! Escapes of HTML, URLs and JSON: `&#65;`, `&amp;`, `%41`, `\u0041`. A text may mix them with plain characters and
//! with each other, so they cannot be enumerated as spellings of a secret: the text is unescaped instead.

use memchr::memchr3;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Length of the longest name in [`NAMES`], in bytes.
const MAX_NAME: usize = 16;

/// HTML entity names of ASCII characters.
const NAMES: [(&str, char); 45] = [
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("excl", '!'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("num", '#'),
    ("dollar", '$'),
    ("percnt", '%'),
    ("amp", '&'),
    ("AMP", '&'),
    ("apos", '\''),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("midast", '*'),
    ("plus", '+'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("colon", ':'),
    ("semi", ';'),
    ("lt", '<'),
    ("LT", '<'),
    ("equals", '='),
    ("gt", '>'),
    ("GT", '>'),
    ("quest", '?'),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("bsol", '\\'),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("Hat", '^'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("grave", '`'),
    ("DiacriticalGrave", '`'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("verbar", '|'),
    ("vert", '|'),
    ("VerticalLine", '|'),
    ("rcub", '}'),
    ("rbrace", '}'),
];

/// HTML entity names of U+00A0 to U+00FF, in order.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
    Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
    Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave \
    iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

static NAMED: LazyLock<HashMap<&'static [u8], char>> = LazyLock::new(|| {
    let latin = LATIN.split_ascii_whitespace().zip('\u{a0}'..='\u{ff}');
    NAMES.into_iter().chain(latin).map(|(name, character)| (name.as_bytes(), character)).collect()
});

/// Unescapes the text once; returns `None` if it has no escape.
pub(super) fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut pieces = Pieces::of(text).peekable();
    // A text without an escape is a single plain piece, or none.
    if pieces.peek().is_none_or(|first| matches!(first.meaning, Meaning::Literal) && first.source.end == text.len()) {
        return None;
    }
    let mut read = Vec::with_capacity(text.len());
    for piece in pieces {
        match &piece.meaning {
            Meaning::Literal => read.extend_from_slice(text.get(piece.source).unwrap_or_default()),
            Meaning::Decoded(bytes, length) => read.extend_from_slice(bytes.get(..*length).unwrap_or_default()),
        }
    }
    Some(read)
}

/// Maps ranges in the [`unescaped`] text back to the original. The ranges are sorted and disjoint.
pub(super) fn sources(text: &[u8], found: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(found.len());
    let mut left = found.iter().peekable();
    let (mut start, mut from) = (None, 0);
    for piece in Pieces::of(text) {
        let to = from + piece.length();
        while let Some(range) = left.peek() {
            if range.start >= to {
                break;
            }
            let began = *start.get_or_insert_with(|| piece.source_offset(range.start - from, piece.source.start));
            if range.end > to {
                break;
            }
            ranges.push(began..piece.source_offset(range.end - from, piece.source.end));
            start = None;
            left.next();
        }
        from = to;
    }
    ranges
}

/// Range of a text, and its meaning.
struct Piece {
    source: Range<usize>,
    meaning: Meaning,
}

enum Meaning {
    Literal,
    /// Escape: up to four bytes, and their number.
    Decoded([u8; 4], usize),
}

impl Piece {
    /// Returns the length of its meaning in bytes.
    fn length(&self) -> usize {
        match self.meaning {
            Meaning::Literal => self.source.len(),
            Meaning::Decoded(_, length) => length,
        }
    }

    /// Maps an offset in its meaning to the source; inside an escape that is one of its ends.
    fn source_offset(&self, offset: usize, end: usize) -> usize {
        match self.meaning {
            Meaning::Literal => self.source.start + offset,
            Meaning::Decoded(..) => end,
        }
    }
}

/// Iterator over the pieces of a text.
struct Pieces<'a> {
    text: &'a [u8],
    at: usize,
    /// Escape that ended the piece before, with its length.
    next: Option<(usize, Meaning)>,
}

impl Pieces<'_> {
    fn of(text: &[u8]) -> Pieces<'_> {
        Pieces { text, at: 0, next: None }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let start = self.at;
        if let Some((length, meaning)) = self.next.take() {
            self.at = start + length;
            return Some(Piece { source: start..self.at, meaning });
        }
        let plain = |end| Some(Piece { source: start..end, meaning: Meaning::Literal });
        let mut at = start;
        while let Some(found) = memchr3(b'&', b'%', b'\\', self.text.get(at..)?) {
            at += found;
            match escape(self.text.get(at..)?) {
                Some((length, meaning)) if at == start => {
                    self.at = start + length;
                    return Some(Piece { source: start..self.at, meaning });
                }
                escape @ Some(_) => {
                    (self.at, self.next) = (at, escape);
                    return plain(at);
                }
                None => at += 1,
            }
        }
        self.at = self.text.len();
        if start < self.at { plain(self.at) } else { None }
    }
}

/// Parses the escape at the beginning of a text: its length, and its meaning.
fn escape(text: &[u8]) -> Option<(usize, Meaning)> {
    match text {
        [b'%', rest @ ..] => {
            let (byte, _) = number(rest.get(..2)?, 16).filter(|(_, digits)| *digits == 2)?;
            Some((3, Meaning::Decoded([u8::try_from(byte).ok()?, 0, 0, 0], 1)))
        }
        [b'&', b'#', b'x' | b'X', rest @ ..] => entity(3, rest, 16),
        [b'&', b'#', rest @ ..] => entity(2, rest, 10),
        [b'&', rest @ ..] => {
            let length = rest.iter().take(MAX_NAME + 1).position(|byte| *byte == b';')?;
            let character = match rest.get(..length)? {
                // The most common ones.
                b"amp" => '&',
                b"lt" => '<',
                b"gt" => '>',
                b"quot" => '"',
                name => *NAMED.get(name)?,
            };
            Some((length + 2, meaning(character)))
        }
        [b'\\', rest @ ..] => backslash(rest),
        _ => None,
    }
}

/// Parses `65;` after `&#`. HTML parsers accept a missing semicolon.
fn entity(before: usize, text: &[u8], radix: u32) -> Option<(usize, Meaning)> {
    let (code, digits) = number(text, radix)?;
    let end = usize::from(text.get(digits) == Some(&b';'));
    Some((before + digits + end, meaning(char::from_u32(code)?)))
}

/// Parses the rest of a backslash escape of JSON or JavaScript.
fn backslash(text: &[u8]) -> Option<(usize, Meaning)> {
    match text {
        [byte @ (b'"' | b'\'' | b'/' | b'\\'), ..] => Some((2, meaning(char::from(*byte)))),
        [b'x', rest @ ..] => {
            let (code, _) = number(rest.get(..2)?, 16).filter(|(_, digits)| *digits == 2)?;
            Some((4, meaning(char::from_u32(code)?)))
        }
        [b'u', b'{', rest @ ..] => {
            let (code, digits) = number(rest, 16)?;
            (rest.get(digits) == Some(&b'}')).then_some((digits + 4, meaning(char::from_u32(code)?)))
        }
        [b'u', rest @ ..] => {
            let unit = unit(rest)?;
            let low = rest.get(4..6).filter(|next| *next == b"\\u").and_then(|_| self::unit(rest.get(6..)?));
            let pair = low.and_then(|low| char::decode_utf16([unit, low]).next()?.ok());
            match pair.filter(|character| character.len_utf16() == 2) {
                Some(character) => Some((12, meaning(character))),
                None => Some((6, meaning(char::from_u32(unit.into())?))),
            }
        }
        _ => None,
    }
}

/// Parses the four digits of a UTF-16 code unit.
fn unit(text: &[u8]) -> Option<u16> {
    let (unit, digits) = number(text.get(..4)?, 16)?;
    u16::try_from(unit).ok().filter(|_| digits == 4)
}

/// Parses the digits at the beginning of a text; returns their number and count. `None` if too large for a character.
fn number(text: &[u8], radix: u32) -> Option<(u32, usize)> {
    let digits = text.iter().map_while(|byte| char::from(*byte).to_digit(radix));
    let mut count = 0;
    let value = digits.fold(0_u32, |value, digit| {
        count += 1;
        value.saturating_mul(radix).saturating_add(digit)
    });
    (count > 0).then_some((value, count))
}

fn meaning(character: char) -> Meaning {
    if character.is_ascii() {
        return Meaning::Decoded([character as u8, 0, 0, 0], 1);
    }
    let mut bytes = [0; 4];
    let length = character.encode_utf8(&mut bytes).len();
    Meaning::Decoded(bytes, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<String> {
        unescaped(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn escapes_are_unescaped_anywhere() {
        for (text, meaning) in [
            ("&#65;&#066;&#x43;&#X0044;&#69F", "ABCDEF"),
            ("a&lowbar;b&commat;c&period;d&amp;&eacute;&yuml;", "a_b@c.d&éÿ"),
            ("%41b%43 %C3%A9", "AbC é"),
            (r#"\u0041\x42\u{43}\/\"\\\ud83d\ude00"#, "ABC/\"\\😀"),
            ("&#x68;un%74er\\u0032", "hunter2"),
            ("x&amp;#65;", "x&#65;"),
        ] {
            assert_eq!(read(text).as_deref(), Some(meaning), "{text}");
        }
    }

    #[test]
    fn other_text_is_unchanged() {
        for text in
            ["", "plain", "a & b; 100 % of\\n it", "&;&#;&#x;&nosuchname;&#xd800;&#1114112;", "%4 %zz \\u12 \\ud83d"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn every_name_is_of_a_character() {
        assert_eq!(NAMED.len(), NAMES.len() + 96);
        assert!(NAMES.iter().all(|(name, _)| name.len() <= MAX_NAME));
        assert_eq!((NAMED[&b"eacute"[..]], NAMED[&b"szlig"[..]], NAMED[&b"divide"[..]]), ('é', 'ß', '÷'));
    }

    proptest! {
        #[allow(clippy::single_range_in_vec_init, reason = "one range is found")]
        #[test]
        fn ranges_are_mapped_back_to_the_source(
            parts in proptest::collection::vec((0..6_usize, "[a-zé]{1,3}"), 1..20),
            from in 0..40_usize, length in 1..20_usize,
        ) {
            // Each letter in one of the ways, and where it stands in both texts.
            let (mut source, mut meaning, mut letters) = (String::new(), String::new(), Vec::new());
            for (way, text) in parts {
                for character in text.chars() {
                    let begun = (source.len(), meaning.len());
                    source.push_str(&match way {
                        0 => character.to_string(),
                        1 => format!("&#{};", u32::from(character)),
                        2 => format!("&#x{:04X};", u32::from(character)),
                        3 => format!("\\u{:04x}", u32::from(character)),
                        _ => character.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
                    });
                    meaning.push(character);
                    letters.push((begun.0..source.len(), begun.1..meaning.len()));
                }
            }
            prop_assert_eq!(read(&source).unwrap_or_else(|| source.clone()), meaning.clone());
            let from = from.min(letters.len() - 1);
            let to = (from + length).min(letters.len()) - 1;
            let found = [letters[from].1.start..letters[to].1.end];
            prop_assert_eq!(sources(source.as_bytes(), &found), [letters[from].0.start..letters[to].0.end]);
        }

        #[test]
        fn any_bytes_are_accepted_without_panic(text in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'&'), Just(b'%'), Just(b'\\'), Just(b'#'), Just(b'u')], 0..200)) {
            let pieces: Vec<Piece> = Pieces::of(&text).collect();
            let mut at = 0;
            for piece in &pieces {
                prop_assert_eq!(piece.source.start, at);
                prop_assert!(piece.source.end > at);
                at = piece.source.end;
            }
            prop_assert_eq!(at, text.len());
        }
    }
}
