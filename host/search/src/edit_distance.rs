//! Edit distance of words (Damerau-Levenshtein), for typo tolerance.

/// Returns the number of deletions, insertions, substitutions and swaps of neighbours, if it is at most `most`.
pub(crate) fn distance(one: &[char], other: &[char], most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    // Three rows of the usual table: the one being filled, the one before it, and the one before that for swaps.
    let mut earlier: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    let mut before = None;
    for (row, &letter) in one.iter().enumerate() {
        let mut current = Vec::with_capacity(above.len());
        current.push(row + 1);
        let (mut left, mut best) = (row + 1, row + 1);
        let mut previous = None;
        for ((column, &against), pair) in other.iter().enumerate().zip(above.windows(2)) {
            let &[diagonal, up] = pair else { continue };
            let mut cost = (diagonal + usize::from(letter != against)).min(up + 1).min(left + 1);
            if before == Some(against) && previous == Some(letter) {
                let swapped = column.checked_sub(1).and_then(|column| earlier.get(column));
                cost = cost.min(swapped.map_or(cost, |swapped| swapped + 1));
            }
            current.push(cost);
            left = cost;
            best = best.min(cost);
            previous = Some(against);
        }
        if best > most {
            return None;
        }
        before = Some(letter);
        earlier = std::mem::replace(&mut above, current);
    }
    above.last().copied().filter(|distance| *distance <= most)
}

/// Returns the set of letters of a word. Each typo changes at most two of them, so most words are ruled out without
/// computing the distance.
pub(crate) fn letters(word: &str) -> u64 {
    word.chars().fold(0, |set, letter| set | 1 << (u32::from(letter) % 64))
}

/// Returns true if `most` typos could turn one set of letters into the other.
pub(crate) fn is_possible(one: u64, other: u64, most: usize) -> bool {
    (one ^ other).count_ones() as usize <= 2 * most
}

/// Returns the number of typos tolerated in a word of this length. A short word with a typo is another word.
pub(crate) fn tolerated(length: usize) -> usize {
    match length {
        0..4 => 0,
        4..6 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(one: &str, other: &str, most: usize) -> Option<usize> {
        distance(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>(), most)
    }

    #[test]
    fn typos_are_counted() {
        assert_eq!(of("repository", "repository", 2), Some(0));
        assert_eq!(of("repositry", "repository", 2), Some(1));
        assert_eq!(of("recrod", "record", 2), Some(1), "a swap is one mistake");
        assert_eq!(of("vidoe", "video", 1), Some(1));
        assert_eq!(of("grph", "graph", 1), Some(1));
        assert_eq!(of("scema", "schema", 2), Some(1));
    }

    #[test]
    fn the_letter_check_never_rules_out_a_match() {
        for (one, other) in
            [("repositry", "repository"), ("recrod", "record"), ("vidoe", "video"), ("caf", "cafe"), ("übre", "über")]
        {
            assert!(is_possible(letters(one), letters(other), 1), "{one} {other}");
        }
        assert!(!is_possible(letters("weather"), letters("flights"), 2));
    }

    #[test]
    fn distances_above_the_limit_are_none() {
        assert_eq!(of("kitten", "sitting", 2), None);
        assert_eq!(of("cat", "catalogue", 2), None);
        assert_eq!(of("", "ab", 1), None);
        assert_eq!(of("", "", 0), Some(0));
    }
}
