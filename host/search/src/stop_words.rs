//! Stop words.

/// Sorted for binary search. Verbs such as `get`, `make` and `list` are left out: they are names of functions.
const STOP_WORDS: &[&str] = &[
    "a", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "both", "by", "can",
    "could", "did", "do", "does", "doing", "done", "each", "either", "every", "for", "from", "had", "has", "have",
    "having", "he", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "may",
    "me", "might", "mine", "more", "most", "must", "my", "need", "no", "not", "of", "on", "only", "onto", "or", "our",
    "ours", "over", "please", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "too", "under", "us", "very", "want", "was", "we", "were",
    "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "without", "would", "you", "your",
    "yours",
];

/// Returns true if a word is left out of queries.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && is_stop_word("yours") && !is_stop_word("get"));
    }
}
