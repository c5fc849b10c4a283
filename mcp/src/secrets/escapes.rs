//! Characters that HTML, addresses and JSON write as escapes: `&#65;`, `&amp;`, `%41`, `\u0041`. A text may mix them with
//! plain characters and with each other, so they cannot be listed as spellings of a secret: the text is read instead.

use memchr::memchr3;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// The longest name in [`NAMES`], in bytes.
const MAX_NAME: usize = 16;

/// The names that HTML has for characters of ASCII.
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

/// The names of U+00A0 to U+00FF, in their order.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
    Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
    Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave \
    iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

static NAMED: LazyLock<HashMap<&'static [u8], char>> = LazyLock::new(|| {
    let latin = LATIN.split_ascii_whitespace().zip('\u{a0}'..='\u{ff}');
    NAMES.into_iter().chain(latin).map(|(name, character)| (name.as_bytes(), character)).collect()
});

/// The text with every escape read, once; nothing where it has none.
pub(super) fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut pieces = Pieces::of(text).peekable();
    // A text without an escape is one plain piece, or none.
    if pieces.peek().is_none_or(|first| matches!(first.meant, Meant::Itself) && first.source.end == text.len()) {
        return None;
    }
    let mut read = Vec::with_capacity(text.len());
    for piece in pieces {
        match &piece.meant {
            Meant::Itself => read.extend_from_slice(text.get(piece.source).unwrap_or_default()),
            Meant::Other(bytes, length) => read.extend_from_slice(bytes.get(..*length).unwrap_or_default()),
        }
    }
    Some(read)
}

/// Where in the text stands what was found in [`unescaped`] of it. What was found is in order, and apart from each other.
pub(super) fn sources(text: &[u8], found: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut places = Vec::with_capacity(found.len());
    let mut left = found.iter().peekable();
    let (mut start, mut from) = (None, 0);
    for piece in Pieces::of(text) {
        let to = from + piece.length();
        while let Some(range) = left.peek() {
            if range.start >= to {
                break;
            }
            let began = *start.get_or_insert_with(|| piece.place(range.start - from, piece.source.start));
            if range.end > to {
                break;
            }
            places.push(began..piece.place(range.end - from, piece.source.end));
            start = None;
            left.next();
        }
        from = to;
    }
    places
}

/// A stretch of a text, and what it stands for.
struct Piece {
    source: Range<usize>,
    meant: Meant,
}

enum Meant {
    Itself,
    /// Up to four bytes, of which so many count.
    Other([u8; 4], usize),
}

impl Piece {
    /// How many bytes it stands for.
    fn length(&self) -> usize {
        match self.meant {
            Meant::Itself => self.source.len(),
            Meant::Other(_, length) => length,
        }
    }

    /// Where so many bytes of what it stands for are in the source; in an escape that is one of its ends.
    fn place(&self, offset: usize, end: usize) -> usize {
        match self.meant {
            Meant::Itself => self.source.start + offset,
            Meant::Other(..) => end,
        }
    }
}

/// The pieces of a text, in order.
struct Pieces<'a> {
    text: &'a [u8],
    at: usize,
    /// The escape that stands there, with its length, where the piece before it was ended by it.
    next: Option<(usize, Meant)>,
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
        if let Some((length, meant)) = self.next.take() {
            self.at = start + length;
            return Some(Piece { source: start..self.at, meant });
        }
        let plain = |end| Some(Piece { source: start..end, meant: Meant::Itself });
        let mut at = start;
        while let Some(found) = memchr3(b'&', b'%', b'\\', self.text.get(at..)?) {
            at += found;
            match escape(self.text.get(at..)?) {
                Some((length, meant)) if at == start => {
                    self.at = start + length;
                    return Some(Piece { source: start..self.at, meant });
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

/// The escape at the beginning of a text: its length, and what it stands for.
fn escape(text: &[u8]) -> Option<(usize, Meant)> {
    match text {
        [b'%', rest @ ..] => {
            let (byte, _) = number(rest.get(..2)?, 16).filter(|(_, digits)| *digits == 2)?;
            Some((3, Meant::Other([u8::try_from(byte).ok()?, 0, 0, 0], 1)))
        }
        [b'&', b'#', b'x' | b'X', rest @ ..] => entity(3, rest, 16),
        [b'&', b'#', rest @ ..] => entity(2, rest, 10),
        [b'&', rest @ ..] => {
            let length = rest.iter().take(MAX_NAME + 1).position(|byte| *byte == b';')?;
            let character = match rest.get(..length)? {
                // Nearly all that there are.
                b"amp" => '&',
                b"lt" => '<',
                b"gt" => '>',
                b"quot" => '"',
                name => *NAMED.get(name)?,
            };
            Some((length + 2, meant(character)))
        }
        [b'\\', rest @ ..] => backslash(rest),
        _ => None,
    }
}

/// `65;` after `&#`. Readers of HTML do without the semicolon too.
fn entity(before: usize, text: &[u8], radix: u32) -> Option<(usize, Meant)> {
    let (code, digits) = number(text, radix)?;
    let end = usize::from(text.get(digits) == Some(&b';'));
    Some((before + digits + end, meant(char::from_u32(code)?)))
}

/// What follows a backslash in JSON and JavaScript.
fn backslash(text: &[u8]) -> Option<(usize, Meant)> {
    match text {
        [byte @ (b'"' | b'\'' | b'/' | b'\\'), ..] => Some((2, meant(char::from(*byte)))),
        [b'x', rest @ ..] => {
            let (code, _) = number(rest.get(..2)?, 16).filter(|(_, digits)| *digits == 2)?;
            Some((4, meant(char::from_u32(code)?)))
        }
        [b'u', b'{', rest @ ..] => {
            let (code, digits) = number(rest, 16)?;
            (rest.get(digits) == Some(&b'}')).then_some((digits + 4, meant(char::from_u32(code)?)))
        }
        [b'u', rest @ ..] => {
            let unit = unit(rest)?;
            let low = rest.get(4..6).filter(|next| *next == b"\\u").and_then(|_| self::unit(rest.get(6..)?));
            let pair = low.and_then(|low| char::decode_utf16([unit, low]).next()?.ok());
            match pair.filter(|character| character.len_utf16() == 2) {
                Some(character) => Some((12, meant(character))),
                None => Some((6, meant(char::from_u32(unit.into())?))),
            }
        }
        _ => None,
    }
}

/// The four digits of a UTF-16 code unit.
fn unit(text: &[u8]) -> Option<u16> {
    let (unit, digits) = number(text.get(..4)?, 16)?;
    u16::try_from(unit).ok().filter(|_| digits == 4)
}

/// The digits at the beginning of a text as a number, and how many they are. What is too large is no character.
fn number(text: &[u8], radix: u32) -> Option<(u32, usize)> {
    let digits = text.iter().map_while(|byte| char::from(*byte).to_digit(radix));
    let mut count = 0;
    let value = digits.fold(0_u32, |value, digit| {
        count += 1;
        value.saturating_mul(radix).saturating_add(digit)
    });
    (count > 0).then_some((value, count))
}

fn meant(character: char) -> Meant {
    if character.is_ascii() {
        return Meant::Other([character as u8, 0, 0, 0], 1);
    }
    let mut bytes = [0; 4];
    let length = character.encode_utf8(&mut bytes).len();
    Meant::Other(bytes, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<String> {
        unescaped(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn escapes_are_read_wherever_they_stand() {
        for (text, meant) in [
            ("&#65;&#066;&#x43;&#X0044;&#69F", "ABCDEF"),
            ("a&lowbar;b&commat;c&period;d&amp;&eacute;&yuml;", "a_b@c.d&éÿ"),
            ("%41b%43 %C3%A9", "AbC é"),
            (r#"\u0041\x42\u{43}\/\"\\\ud83d\ude00"#, "ABC/\"\\😀"),
            ("&#x68;un%74er\\u0032", "hunter2"),
            ("x&amp;#65;", "x&#65;"),
        ] {
            assert_eq!(read(text).as_deref(), Some(meant), "{text}");
        }
    }

    #[test]
    fn what_is_no_escape_is_left_alone() {
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
        #[allow(clippy::single_range_in_vec_init, reason = "one place is found")]
        #[test]
        fn what_is_found_is_found_in_its_source(
            parts in proptest::collection::vec((0..6_usize, "[a-zé]{1,3}"), 1..20),
            from in 0..40_usize, length in 1..20_usize,
        ) {
            // Each letter in one of the ways, and where it stands in both texts.
            let (mut source, mut meant, mut letters) = (String::new(), String::new(), Vec::new());
            for (way, text) in parts {
                for character in text.chars() {
                    let begun = (source.len(), meant.len());
                    source.push_str(&match way {
                        0 => character.to_string(),
                        1 => format!("&#{};", u32::from(character)),
                        2 => format!("&#x{:04X};", u32::from(character)),
                        3 => format!("\\u{:04x}", u32::from(character)),
                        _ => character.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
                    });
                    meant.push(character);
                    letters.push((begun.0..source.len(), begun.1..meant.len()));
                }
            }
            prop_assert_eq!(read(&source).unwrap_or_else(|| source.clone()), meant.clone());
            let from = from.min(letters.len() - 1);
            let to = (from + length).min(letters.len()) - 1;
            let found = [letters[from].1.start..letters[to].1.end];
            prop_assert_eq!(sources(source.as_bytes(), &found), [letters[from].0.start..letters[to].0.end]);
        }

        #[test]
        fn anything_can_be_read(text in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'&'), Just(b'%'), Just(b'\\'), Just(b'#'), Just(b'u')], 0..200)) {
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
