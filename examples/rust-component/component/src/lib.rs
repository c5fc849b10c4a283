//! Answers the capability `text`, which `../../capabilities/text.json` defines.
//!
//! The host makes a fresh instance for each call, so nothing is kept from one to the next.

use exports::capabilities::text::text::{
    CapabilityError, CountWordsParams, CountWordsResult, CountWordsResultWordsItem, Guest, SlugParams,
};
use std::collections::{BTreeMap, BTreeSet};

wit_bindgen::generate!({
    path: "wit",
    inline: "
        package example:text-component;
        world text-component { export capabilities:text/text@1.0.0; }
    ",
    generate_all,
    // The functions wait for nothing, so plain ones do. Leave this out for `async fn`.
    async: false,
});
export!(Text);

/// Words that are not counted, apart by spaces. The component has it only if the configuration gives it.
const STOP_WORDS: &str = "TEXT_STOPWORDS";

struct Text;

impl Guest for Text {
    fn count_words(params: CountWordsParams) -> Result<CountWordsResult, CapabilityError> {
        let is_folded = params.ignore_case.unwrap_or(false);
        let fold = |word: &str| if is_folded { word.to_lowercase() } else { word.to_owned() };
        let stop_words = std::env::var(STOP_WORDS).unwrap_or_default();
        let stop_words: BTreeSet<String> = stop_words.split_whitespace().map(fold).collect();
        let mut counts = BTreeMap::<String, i64>::new();
        let mut total = 0;
        for word in words(&params.text) {
            total += 1;
            *counts.entry(fold(word)).or_default() += 1;
        }
        counts.retain(|word, _| !stop_words.contains(word));
        let mut words: Vec<_> =
            counts.into_iter().map(|(word, count)| CountWordsResultWordsItem { word, count }).collect();
        // Words that are as frequent as each other stay in the order of the alphabet.
        words.sort_by_key(|item| std::cmp::Reverse(item.count));
        Ok(CountWordsResult { words, total })
    }

    fn slug(params: SlugParams) -> Result<String, CapabilityError> {
        let words: Vec<String> = words(&params.text).map(str::to_lowercase).collect();
        if words.is_empty() {
            return Err(CapabilityError {
                code: "text.noWords".into(),
                message: "The text has no word to make a name of".into(),
                retryable: false,
                // JSON, which scripts are given as a value.
                details: Some(format!(r#"{{"characters":{}}}"#, params.text.chars().count())),
            });
        }
        Ok(words.join("-"))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}
