//! Suggestions for misspelt names.

/// Maximum length of a compared name; the cost of the comparison is the product of the lengths.
const MAX_LENGTH: usize = 256;

/// Separators of the parts of a name: `@capabilities/notes`, `mcp:slack`, `slack.listChannels`.
const SEPARATORS: [char; 3] = ['/', ':', '.'];

/// Returns the name in `known` that `name` is most likely a misspelling of, by edit distance. This is the only place
/// that decides what is similar.
///
/// Case and punctuation are ignored (`requires_approval` for `requiresApproval`). A third of the letters may differ,
/// one in a short name, but never all: `chanel` matches `channel`, `limit` does not match `list`. Common leading parts
/// are ignored: `@capabilities/lodash` is no more similar to `@capabilities/notes` than `lodash` is to `notes`.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let near = known.filter(|candidate| candidate.len() <= MAX_LENGTH).filter_map(|candidate| {
        let (own, other) = without_shared_parts(name, candidate);
        let (own, other) = (plain(own), plain(other));
        let length = own.chars().count().max(other.chars().count());
        let distance = strsim::osa_distance(&own, &other);
        (distance <= (length / 3).max(1) && (distance < length || length == 0)).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Both names without their common leading parts; the last part is always kept.
fn without_shared_parts<'a, 'b>(name: &'a str, other: &'b str) -> (&'a str, &'b str) {
    let shared = name.bytes().zip(other.bytes()).take_while(|(own, other)| own == other).count();
    let same = name.as_bytes().get(..shared).unwrap_or_default();
    let end = same.iter().rposition(|byte| SEPARATORS.contains(&char::from(*byte))).map_or(0, |at| at + 1);
    // A separator is one byte, so the rest starts at a character boundary.
    (name.get(end..).unwrap_or(name), other.get(end..).unwrap_or(other))
}

fn plain(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelt_name_gets_a_suggestion_and_an_unrelated_one_does_not() {
        let known = [
            "@capabilities/train-schedule",
            "@capabilities/notes",
            "requiresApproval",
            "channel",
            "mcp:github",
            "fs",
            "x",
        ];
        for (slip, meant) in [
            ("@capabilities/train-shedule", Some(known[0])),
            ("@capabilities/train_schedule", Some(known[0])),
            ("@capabilities/note", Some(known[1])),
            ("@capabilities/lodash", None),
            ("@capabilities/crm", None),
            ("requires_approval", Some(known[2])),
            ("chanel", Some(known[3])),
            ("hcannel", Some(known[3])),
            ("mcp:gihtub", Some(known[4])),
            ("mcp:slack", None),
            ("mcp:a", None),
            ("f", Some(known[5])),
            ("y", None),
            ("lodash", None),
            ("list", None),
        ] {
            assert_eq!(nearest(slip, known.into_iter()), meant, "{slip}");
        }
        assert_eq!(nearest(&"c".repeat(1 << 20), known.into_iter()), None);
        assert_eq!(nearest("ä:b", ["ä:bb", "ö"].into_iter()), Some("ä:bb"));
    }
}
