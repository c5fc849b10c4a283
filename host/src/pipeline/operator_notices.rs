//! Notices to the operator, rated by function and rule.
//!
//! Scripts choose how often they are refused and in which words. So of one function and one rule a few different
//! notices are told in each minute; the rest is counted, and the count is told when the minute is over. No function can
//! use up what is left for another, and no server falls silent.

use agent_spaces_mcp::secrets::Redactor;
use capability_gen::shown;
use capability_gen::shown::Shown;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Hears what only an operator may know: which rule refused a call, and what would allow it.
pub type Operator = dyn Fn(&Shown) + Send + Sync;

/// How long notices are counted together: what a person can read while it goes on.
const WINDOW: Duration = Duration::from_secs(60);
/// Different notices that are told of one function and rule in one window; the same one is told once.
const MAX_TOLD: usize = 5;
/// Functions and rules that are counted apart, of some hundred bytes each. The largest spaces have 5,000 functions, of
/// which a script calls few; those beyond this number share one count.
const MAX_TOPICS: usize = 8_192;
/// The longest notice, in characters: what matters is in the beginning.
const MAX_NOTICE: usize = 600;
/// The longest name of a function in a notice, in characters.
const MAX_NAME: usize = 200;
/// How much is repeated of a notice that was not told, in characters.
const MAX_LAST: usize = 200;

/// Where notices go; clones are one. Secrets are taken out.
#[derive(Clone, Default)]
pub(crate) struct Notices {
    operator: Option<Arc<Operator>>,
    redactor: Redactor,
    told: Told,
}

/// What was told already; clones are one.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Inner>);

#[derive(Default)]
struct Inner {
    ledger: Mutex<Ledger>,
    /// Who hears the rest when nobody tells anything any more.
    operator: OnceLock<Arc<Operator>>,
}

impl Notices {
    pub(crate) fn new(operator: Option<Arc<Operator>>, redactor: Redactor, told: Told) -> Notices {
        Notices { operator, redactor, told }
    }

    /// What secrets are taken out with.
    #[cfg(feature = "compiler")]
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Tells the operator, where one listens, of a function and a rule; or counts what is not told.
    pub(crate) fn tell(&self, function: &str, rule: &'static str, text: &str) {
        let Some(operator) = &self.operator else { return };
        let inner = &self.told.0;
        inner.operator.get_or_init(|| operator.clone());
        let text = notice(&self.redactor.text(text));
        let noted = inner.ledger().note(Topic { function: function.into(), rule }, text, Instant::now());
        noted.told.iter().for_each(|text| operator(text));
        if let (Some(end), Ok(runtime)) = (noted.counts_until, tokio::runtime::Handle::try_current()) {
            let inner = Arc::downgrade(inner);
            runtime.spawn(async move {
                tokio::time::sleep_until(end.into()).await;
                if let Some(inner) = inner.upgrade() {
                    let ended = inner.ledger().ended(Instant::now());
                    inner.tell(&ended);
                }
            });
        }
    }
}

/// A text as an operator is told it.
pub(crate) fn notice(text: &str) -> Shown {
    Shown::line(text, MAX_NOTICE)
}

impl Inner {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, texts: &[Shown]) {
        if let Some(operator) = self.operator.get() {
            texts.iter().for_each(|text| operator(text));
        }
    }
}

/// What was counted is told before it is forgotten.
impl Drop for Inner {
    fn drop(&mut self) {
        let windows = std::mem::take(&mut self.ledger().windows);
        let counts: Vec<Shown> = windows.iter().filter_map(|(topic, window)| window.count_of(topic)).collect();
        self.tell(&counts);
    }
}

/// What a notice is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Topic {
    function: Box<str>,
    rule: &'static str,
}

/// What is told of a notice, and from when on its count can be told.
struct Noted {
    told: Vec<Shown>,
    counts_until: Option<Instant>,
}

/// The windows that are open.
#[derive(Default)]
struct Ledger {
    windows: HashMap<Topic, Window>,
}

struct Window {
    begun: Instant,
    /// Hashes of what was told.
    told: Vec<u64>,
    suppressed: u64,
    /// The last notice whose words were not told.
    last: Option<Shown>,
}

impl Ledger {
    fn note(&mut self, topic: Topic, text: Shown, now: Instant) -> Noted {
        let mut told = Vec::new();
        let mut topic = topic;
        if !self.windows.contains_key(&topic) && self.windows.len() >= MAX_TOPICS {
            told.extend(self.ended(now));
            if self.windows.len() >= MAX_TOPICS {
                topic = Topic { function: "other functions".into(), rule: "several rules" };
            }
        }
        if self.windows.get(&topic).is_some_and(|window| window.is_over(now))
            && let Some(window) = self.windows.remove(&topic)
        {
            told.extend(window.count_of(&topic));
        }
        let new = || Window { begun: now, told: Vec::new(), suppressed: 0, last: None };
        let window = self.windows.entry(topic).or_insert_with(new);
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        let is_told = window.told.contains(&hash);
        if !is_told && window.told.len() < MAX_TOLD {
            window.told.push(hash);
            told.push(text);
            return Noted { told, counts_until: None };
        }
        window.suppressed += 1;
        if !is_told {
            window.last = Some(Shown::line(&text, MAX_LAST));
        }
        Noted { told, counts_until: (window.suppressed == 1).then(|| window.begun + WINDOW) }
    }

    /// Closes the windows that are over, and gives what is told of them.
    fn ended(&mut self, now: Instant) -> Vec<Shown> {
        let over = self.windows.extract_if(|_, window| window.is_over(now));
        over.filter_map(|(topic, window)| window.count_of(&topic)).collect()
    }
}

impl Window {
    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.begun) >= WINDOW
    }

    /// How many notices were not told, if any.
    fn count_of(&self, topic: &Topic) -> Option<Shown> {
        let function = Shown::line(&topic.function, MAX_NAME);
        let last = self.last.as_ref().map(|last| shown!(", the last: {}", last)).unwrap_or_default();
        let count = self.suppressed;
        (count > 0).then(|| shown!("{}: {} more like this in one minute ({}){}", function, count, topic.rule, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_mcp::secrets::Secret;

    fn topic(function: &str) -> Topic {
        Topic { function: function.into(), rule: "policy" }
    }

    fn note(ledger: &mut Ledger, function: &str, text: &str, now: Instant) -> Vec<Shown> {
        ledger.note(topic(function), Shown::line(text, MAX_NOTICE), now).told
    }

    #[test]
    fn a_function_that_is_refused_in_ever_new_words_silences_no_other_and_is_heard_again() {
        let (mut ledger, begun) = (Ledger::default(), Instant::now());
        let told = (0..1_000).flat_map(|number| note(&mut ledger, "a.loud", &number.to_string(), begun));
        assert_eq!(told.collect::<Vec<_>>(), ["0", "1", "2", "3", "4"]);
        assert_eq!(note(&mut ledger, "a.quiet", "x", begun), ["x"]);
        // The same words once.
        assert!(note(&mut ledger, "a.quiet", "x", begun).is_empty());
        let later = begun + WINDOW;
        let counted = "a.loud: 995 more like this in one minute (policy), the last: 999";
        assert_eq!(note(&mut ledger, "a.loud", "again", later), [counted, "again"]);
        assert_eq!(ledger.ended(later), ["a.quiet: 1 more like this in one minute (policy)"]);
        // Nothing was counted since.
        assert!(ledger.ended(later + WINDOW).is_empty());
        assert!(ledger.windows.is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut ledger, begun) = (Ledger::default(), Instant::now());
        let told =
            (0..2 * MAX_TOPICS).map(|number| note(&mut ledger, &number.to_string(), &format!("n{number}"), begun));
        assert_eq!(told.filter(|told| !told.is_empty()).count(), MAX_TOPICS + MAX_TOLD);
        assert_eq!(ledger.windows.len(), MAX_TOPICS + 1);
        let counted = note(&mut ledger, "new", "x", begun + WINDOW);
        assert_eq!(counted.len(), 2);
        assert!(counted[0].starts_with("other functions: 8187 more like this"), "{counted:?}");
    }

    #[tokio::test]
    async fn notices_have_no_secrets_and_act_on_nothing_and_the_count_is_told_at_the_end() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = heard.clone();
        let operator: Arc<Operator> = Arc::new(move |text: &Shown| ear.lock().unwrap().push(text.to_string()));
        let redactor = Redactor::default();
        redactor.add(&Secret::new("hunter2hunter2"));
        let notices = Notices::new(Some(operator), redactor, Told::default());
        for text in ["a hunter2hunter2\n\x1b[2J", "a hunter2hunter2\n\x1b[2J"] {
            notices.clone().tell("f", "policy", text);
        }
        assert_eq!(*heard.lock().unwrap(), ["a [redacted] <U+001B>[2J"]);
        drop(notices);
        assert_eq!(heard.lock().unwrap()[1..], ["f: 1 more like this in one minute (policy)"]);
    }
}
