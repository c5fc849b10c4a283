//! A request that waits for its run.

use super::going::{Deciders, Returned, Waiting, of_going};
use super::progress::Teller;
use super::{CodeMode, answer, refused};
use crate::serve::approvals::{Form, OpenForms, input_required};
use crate::serve::caller::Client;
use crate::serve::runs::ServedRun;
use crate::serve::waiting::Waited;
use agent_spaces_approvals::Request;
use rmcp::model::CallToolResponse;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a request waits for a run at most. Most clients give up after a minute.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(45);

/// How long a request waits.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    begun: Instant,
    until: Instant,
    /// Whether more was asked for than there is.
    is_cut: bool,
}

impl Patience {
    /// From now on, for as many seconds as the agent asks for.
    pub(super) fn new(asked: Option<f64>) -> Result<Patience, String> {
        let begun = Instant::now();
        let seconds = asked.unwrap_or(MAX_WAIT.as_secs_f64());
        if !seconds.is_finite() || seconds < 0.0 {
            return Err(format!("`wait` is a number of seconds from 0 to {}", MAX_WAIT.as_secs()));
        }
        let is_cut = seconds > MAX_WAIT.as_secs_f64();
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or(MAX_WAIT).min(MAX_WAIT);
        Ok(Patience { begun, until: begun + wait, is_cut })
    }

    fn waiting(&self, why: Returned) -> Waiting {
        Waiting { waited: self.begun.elapsed(), why, is_cut: self.is_cut }
    }
}

/// What a request asks of its run.
#[derive(Clone, Copy)]
pub(super) struct Followed {
    /// The part of its answer.
    pub(super) part: usize,
    pub(super) patience: Patience,
    /// Whether the person has just closed a form without a decision.
    pub(super) is_form_closed: bool,
}

impl CodeMode {
    /// Waits for a run: until it ends, until calls wait for a person of which the agent does not know, or as long as it asked
    /// for. Whoever stops waiting, because its client cancelled or went away, ends it.
    pub(super) async fn follow(
        &self,
        client: &Client,
        run: &Arc<ServedRun>,
        Followed { part, patience, mut is_form_closed }: Followed,
        teller: &mut Teller<'_>,
    ) -> CallToolResponse {
        let context = teller.context();
        let guard = CancelOnDrop(Some(run.clone()));
        let progress = teller.follow(run);
        tokio::pin!(progress);
        let (form, decisions) = (Form::of(client, context), &self.0.decisions);
        let mut forms = OpenForms::default();
        let answer = loop {
            let is_closed = is_form_closed;
            let is_news = |waiting: &[Arc<Request>]| match form {
                Form::None => !decisions.has_elsewhere() || !run.told.is(waiting),
                Form::Session | Form::Stateless => {
                    let is_asked = run.asked.unasked(waiting.to_vec()).is_empty();
                    let is_known = run.asked.has_open(waiting) || (!is_closed && run.told.is(waiting));
                    !is_asked || !is_known
                }
            };
            let waited = tokio::select! {
                waited = run.wait(patience.until, is_news) => waited,
                () = forms.hear() => {
                    is_form_closed = true;
                    continue;
                }
                // Never ends by itself.
                () = &mut progress => continue,
            };
            let (waiting, why) = match waited {
                Waited::Ended(ended) => {
                    let none = || refused(format!("there is no part {part} of `{}`", run.id));
                    break answer::of_ended(run, &ended, part).unwrap_or_else(none).into();
                }
                Waited::News(waiting) if is_form_closed => (waiting, Returned::FormClosed),
                Waited::News(waiting) => (waiting, Returned::ApprovalNeeded),
                Waited::TimeOver(waiting) => (waiting, Returned::TimeOver),
            };
            let is_over = why == Returned::TimeOver;
            let unasked = run.asked.unasked(waiting.clone());
            match form {
                // A person is asked through the client; meanwhile this request goes on waiting.
                Form::Session if !is_over && !unasked.is_empty() => {
                    forms.open(decisions, client, &context.peer, (&run.asked, unasked));
                    continue;
                }
                Form::Stateless if !unasked.is_empty() => break input_required(&run.asked, unasked, &run.id),
                Form::None if decisions.refuse_unasked(&waiting) => match is_over {
                    // What comes of that is seen when the agent comes back.
                    true => break of_going(run, &[], Deciders::default(), &patience.waiting(why)).into(),
                    false => continue,
                },
                _ => {}
            }
            run.told.set(&waiting);
            let deciders = Deciders { is_client_asked: form != Form::None, has_elsewhere: decisions.has_elsewhere() };
            break of_going(run, &waiting, deciders, &patience.waiting(why)).into();
        };
        guard.disarm();
        answer
    }
}

/// Ends a run that nobody waits for any more.
struct CancelOnDrop(Option<Arc<ServedRun>>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(run) = &self.0 {
            run.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_WAIT, Patience};

    #[test]
    fn a_wait_is_bounded_and_says_so() {
        assert!(Patience::new(Some(46.0)).unwrap().is_cut && Patience::new(Some(1e300)).unwrap().is_cut);
        let most = Patience::new(Some(45.0)).unwrap();
        assert!(!most.is_cut && most.until - most.begun == MAX_WAIT);
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Patience::new(Some(wrong)).is_err_and(|error| error.contains("0 to 45")), "{wrong}");
        }
    }
}
