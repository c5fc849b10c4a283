//! The nearest known name, for messages.

/// The one of `known` that `name` is most likely a slip of.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this the two have little to do with each other.
    const LEAST_SIMILARITY: f64 = 0.75;
    known
        .map(|candidate| (strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity >= LEAST_SIMILARITY)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_none() {
        let known = ["@capabilities/train-schedule", "@capabilities/notes"];
        assert_eq!(nearest("@capabilities/train-shedule", known.into_iter()), Some(known[0]));
        assert_eq!(nearest("lodash", known.into_iter()), None);
    }
}
