//! Light stemmer: one spelling for all forms of a word.
//!
//! Not Porter's algorithm: names of products must not be truncated, and word vectors find what this misses.

/// Returns the word without plural and verb endings. The stem is not itself a word, only a key for comparison.
pub(crate) fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.is_ascii() {
        return word.to_owned();
    }
    let mut stem = without_plural(word);
    for ending in ["ing", "ed"] {
        if let Some(rest) = stem.strip_suffix(ending) {
            if rest.len() >= 3 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
                stem = undoubled(rest).to_owned();
            }
            break;
        }
    }
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
    if stem.len() > 4 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

fn without_plural(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 1) {
        return format!("{rest}y");
    }
    let has_es = ["sses", "xes", "ches", "shes", "zes"].iter().any(|ending| word.ends_with(ending));
    if has_es && let Some(rest) = word.strip_suffix("es") {
        return rest.to_owned();
    }
    let is_singular = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix('s') {
        Some(rest) if !is_singular => rest.to_owned(),
        _ => word.to_owned(),
    }
}

/// Removes a doubled consonant: `running` is `run`, but `calling` is `call`.
fn undoubled(word: &str) -> &str {
    let mut ends = word.bytes().rev();
    let (last, before) = (ends.next(), ends.next());
    let is_doubled = word.len() > 3 && last == before && !matches!(last, Some(b'l' | b's' | b'z'));
    word.get(..word.len() - usize::from(is_doubled)).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["create", "creates", "created", "creating"][..],
            &["copy", "copies"],
            &["query", "queries", "querying"],
            &["run", "runs", "running"],
            &["call", "calls", "called", "calling"],
            &["box", "boxes"],
            &["message", "messages"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{forms:?}: {stems:?}");
        }
    }

    #[test]
    fn short_and_foreign_words_stay() {
        assert_eq!(
            (stem("gas"), stem("sms"), stem("über"), stem("status")),
            ("gas".into(), "sms".into(), "über".into(), "status".into())
        );
    }
}
