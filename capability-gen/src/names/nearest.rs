//! The name that was probably meant.

/// The comparison costs the product of the lengths; nobody mistypes a name into a page of text.
const MAX_LENGTH: usize = 256;

/// What parts of names stand between: `@capabilities/notes`, `mcp:slack`, `slack.listChannels`.
const SEPARATORS: [char; 3] = ['/', ':', '.'];

/// The one of `known` that `name` is most likely a slip of: the nearest that is near at all. This is the one place that
/// decides what is near.
///
/// Spelling alone (`requires_approval` for `requiresApproval`) does not count. Of the letters a third may differ, and one of
/// a short name, but never all: `chanel` is `channel`, `limit` is not `list`. Parts that both names begin with say nothing:
/// `@capabilities/lodash` is no nearer to `@capabilities/notes` than `lodash` is to `notes`.
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

/// Both names from the first part on in which they differ; the last part stays in any case.
fn without_shared_parts<'a, 'b>(name: &'a str, other: &'b str) -> (&'a str, &'b str) {
    let shared = name.bytes().zip(other.bytes()).take_while(|(own, other)| own == other).count();
    let same = name.as_bytes().get(..shared).unwrap_or_default();
    let end = same.iter().rposition(|byte| SEPARATORS.contains(&char::from(*byte))).map_or(0, |at| at + 1);
    // A separator is one byte, so that what comes after it begins a character.
    (name.get(end..).unwrap_or(name), other.get(end..).unwrap_or(other))
}

fn plain(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_none() {
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
