//! Notices to the operator, rate-limited by function and rule.
//!
//! Scripts choose how often they are refused and with which text. So a few different notices for each function and rule
//! are sent per minute; the rest is counted, and the count is sent when the minute is over. No function can use up the
//! quota of another, and a long-running server is never silenced.

use agent_spaces_secrets::Redactor;
use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Callback for texts meant for the operator only: which rule refused a call, and what would allow it.
pub type Operator = dyn Fn(&Shown) + Send + Sync;

/// Window of the rate limit: few enough notices for a person to read.
const WINDOW: Duration = Duration::from_secs(60);
/// Maximum different notices of one function and rule in one window; equal ones are sent once.
const MAX_DISTINCT: usize = 5;
/// Maximum topics with a window of their own, of about a hundred bytes each. The largest spaces have 5,000 functions,
/// of which a script calls few; further topics share one window.
const MAX_TOPICS: usize = 8_192;
/// Maximum length of a notice, in characters: the important part comes first.
const MAX_NOTICE: usize = 600;
/// Maximum length of a function name in a notice, in characters.
const MAX_NAME: usize = 200;
/// Maximum length of a suppressed notice that is quoted with the count, in characters.
const MAX_LAST: usize = 200;

/// Sink of notices, with secrets redacted. Clones share state.
#[derive(Clone, Default)]
pub struct Notices {
    operator: Option<Arc<Operator>>,
    redactor: Redactor,
    told: Told,
}

/// State of the rate limit. Clones share state.
#[derive(Clone, Default)]
pub struct Told(Arc<Inner>);

#[derive(Default)]
struct Inner {
    ledger: Mutex<Ledger>,
    /// Receiver of the remaining counts on drop.
    operator: OnceLock<Arc<Operator>>,
}

impl Notices {
    /// Creates a sink; without an operator, notices are discarded.
    pub fn new(operator: Option<Arc<Operator>>, redactor: Redactor, told: Told) -> Notices {
        Notices { operator, redactor, told }
    }

    /// Returns the redactor.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Sends a notice about a function and a rule, or counts it if the rate limit is reached.
    pub fn tell(&self, function: &str, rule: &'static str, text: &str) {
        let Some(operator) = &self.operator else { return };
        let inner = &self.told.0;
        inner.operator.get_or_init(|| operator.clone());
        let text = notice(&self.redactor.text(text));
        let noted = inner.ledger().note(Topic { function: function.into(), rule }, text, Instant::now());
        noted.sent.iter().for_each(|text| operator(text));
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

/// Sanitizes and truncates a notice.
pub fn notice(text: &str) -> Shown {
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

/// Sends the remaining counts.
impl Drop for Inner {
    fn drop(&mut self) {
        let windows = std::mem::take(&mut self.ledger().windows);
        let counts: Vec<Shown> = windows.iter().filter_map(|(topic, window)| window.count_of(topic)).collect();
        self.tell(&counts);
    }
}

/// Key of the rate limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Topic {
    function: Box<str>,
    rule: &'static str,
}

/// Result of a notice: texts to send now, and when to send the count.
struct Noted {
    sent: Vec<Shown>,
    counts_until: Option<Instant>,
}

/// Open windows of the rate limit.
#[derive(Default)]
struct Ledger {
    windows: HashMap<Topic, Window>,
}

/// Window of one topic.
struct Window {
    begun: Instant,
    /// Hashes of the notices that were sent.
    sent: Vec<u64>,
    suppressed: u64,
    /// Last suppressed notice with a new text.
    last: Option<Shown>,
}

impl Ledger {
    fn note(&mut self, topic: Topic, text: Shown, now: Instant) -> Noted {
        let mut sent = Vec::new();
        let mut topic = topic;
        if !self.windows.contains_key(&topic) && self.windows.len() >= MAX_TOPICS {
            sent.extend(self.ended(now));
            if self.windows.len() >= MAX_TOPICS {
                topic = Topic { function: "other functions".into(), rule: "several rules" };
            }
        }
        if self.windows.get(&topic).is_some_and(|window| window.is_over(now))
            && let Some(window) = self.windows.remove(&topic)
        {
            sent.extend(window.count_of(&topic));
        }
        let new = || Window { begun: now, sent: Vec::new(), suppressed: 0, last: None };
        let window = self.windows.entry(topic).or_insert_with(new);
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        let is_sent = window.sent.contains(&hash);
        if !is_sent && window.sent.len() < MAX_DISTINCT {
            window.sent.push(hash);
            sent.push(text);
            return Noted { sent, counts_until: None };
        }
        window.suppressed += 1;
        if !is_sent {
            window.last = Some(Shown::line(&text, MAX_LAST));
        }
        Noted { sent, counts_until: (window.suppressed == 1).then(|| window.begun + WINDOW) }
    }

    /// Closes the windows that are over, and returns their counts.
    fn ended(&mut self, now: Instant) -> Vec<Shown> {
        let over = self.windows.extract_if(|_, window| window.is_over(now));
        over.filter_map(|(topic, window)| window.count_of(&topic)).collect()
    }
}

impl Window {
    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.begun) >= WINDOW
    }

    /// Formats the count of suppressed notices, if any.
    fn count_of(&self, topic: &Topic) -> Option<Shown> {
        let function = Shown::line(&topic.function, MAX_NAME);
        let last = self.last.as_ref().map(|last| shown!(", the last: {}", last)).unwrap_or_default();
        let count = self.suppressed;
        (count > 0).then(|| shown!("{}: {} more like this in one minute ({}){}", function, count, topic.rule, last))
    }
}

#[cfg(test)]
mod tests {
    use crate::operator_notices::*;
    use agent_spaces_secrets::Secret;

    fn topic(function: &str) -> Topic {
        Topic { function: function.into(), rule: "policy" }
    }

    fn note(ledger: &mut Ledger, function: &str, text: &str, now: Instant) -> Vec<Shown> {
        ledger.note(topic(function), Shown::line(text, MAX_NOTICE), now).sent
    }

    #[test]
    fn a_noisy_function_is_limited_for_one_window_and_silences_no_other() {
        let (mut ledger, begun) = (Ledger::default(), Instant::now());
        let sent = (0..1_000).flat_map(|number| note(&mut ledger, "a.loud", &number.to_string(), begun));
        assert_eq!(sent.collect::<Vec<_>>(), ["0", "1", "2", "3", "4"]);
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
    fn the_number_of_topics_is_bounded() {
        let (mut ledger, begun) = (Ledger::default(), Instant::now());
        let sent =
            (0..2 * MAX_TOPICS).map(|number| note(&mut ledger, &number.to_string(), &format!("n{number}"), begun));
        assert_eq!(sent.filter(|sent| !sent.is_empty()).count(), MAX_TOPICS + MAX_DISTINCT);
        assert_eq!(ledger.windows.len(), MAX_TOPICS + 1);
        let counted = note(&mut ledger, "new", "x", begun + WINDOW);
        assert_eq!(counted.len(), 2);
        assert!(counted[0].starts_with("other functions: 8187 more like this"), "{counted:?}");
    }

    #[tokio::test]
    async fn notices_are_redacted_and_sanitized_and_the_count_is_sent_on_drop() {
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
