//! The name that was probably meant.

/// The comparison costs the product of the lengths; nobody mistypes a name into a page of text.
const MAX_LENGTH: usize = 256;

/// The one of `known` that `name` is most likely a slip of. Spelling alone (`requires_approval` for
/// `requiresApproval`) does not count, and of the letters at most a third may differ: `chanel` is `channel`, `limit`
/// is not `list`.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let wanted = plain(name);
    let distances = known.filter(|candidate| candidate.len() <= MAX_LENGTH).map(|candidate| {
        let candidate_plain = plain(candidate);
        let length = wanted.chars().count().max(candidate_plain.chars().count());
        (strsim::osa_distance(&wanted, &candidate_plain), length, candidate)
    });
    distances
        .filter(|(distance, length, _)| distance * 3 <= *length)
        .min_by_key(|(distance, ..)| *distance)
        .map(|(.., candidate)| candidate)
}

fn plain(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_none() {
        let known = ["@capabilities/train-schedule", "@capabilities/notes", "requiresApproval", "channel"];
        for (slip, meant) in [
            ("@capabilities/train-shedule", Some(known[0])),
            ("requires_approval", Some(known[2])),
            ("chanel", Some(known[3])),
            ("lodash", None),
            ("list", None),
        ] {
            assert_eq!(nearest(slip, known.into_iter()), meant, "{slip}");
        }
        assert_eq!(nearest(&"c".repeat(1 << 20), known.into_iter()), None);
    }
}
