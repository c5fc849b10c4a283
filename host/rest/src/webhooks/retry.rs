//! Results of requests, and times of repeated ones.

use agent_spaces_std::StdError;

/// Waits between requests, in milliseconds: a restart of the receiver takes seconds, a failure that somebody has to see
/// to takes hours.
const WAITS_MS: [i64; 6] = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 60 * 60_000, 6 * 60 * 60_000];

/// Result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// The message was accepted.
    Accepted,
    /// The receiver wants no more of it.
    Stopped,
    /// It is to be sent again, for this reason.
    Failed(String),
}

impl Sent {
    /// Reads a response.
    pub(super) fn of(response: Result<u16, StdError>) -> Sent {
        match response {
            Ok(200..=299) => Sent::Accepted,
            Ok(410) => Sent::Stopped,
            Ok(status) => Sent::Failed(format!("status {status}")),
            Err(error) => Sent::Failed(error.message),
        }
    }
}

/// Returns the wait after a number of failed requests, in milliseconds; `None` if there were enough. It is up to a fifth
/// longer, by `random`, so that many messages that failed at once are not sent again at once.
pub(super) fn wait_after(failures: u32, random: u8) -> Option<i64> {
    let last = usize::try_from(failures).ok()?.checked_sub(1)?;
    let wait = *WAITS_MS.get(last)?;
    Some(wait + wait / 5 * i64::from(random) / i64::from(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::{Sent, wait_after};
    use agent_spaces_std::StdError;

    #[test]
    fn waits_grow_from_seconds_to_hours_and_end() {
        let waits: Vec<Option<i64>> = (1..=7).map(|failures| wait_after(failures, 0)).collect();
        let seconds = [5, 30, 120, 600, 3_600, 21_600].map(|seconds: i64| Some(seconds * 1_000));
        assert_eq!(waits.split_last(), Some((&None, &seconds[..])));
        assert_eq!((wait_after(1, u8::MAX), wait_after(6, u8::MAX)), (Some(6_000), Some(25_920_000)));
        assert!((5_000..=6_000).contains(&wait_after(1, 100).unwrap()));
        assert_eq!((wait_after(0, 0), wait_after(u32::MAX, 0)), (None, None));
    }

    #[test]
    fn only_success_and_gone_end_a_delivery() {
        assert_eq!((Sent::of(Ok(200)), Sent::of(Ok(204))), (Sent::Accepted, Sent::Accepted));
        assert_eq!(Sent::of(Ok(410)), Sent::Stopped);
        for status in [301, 400, 404, 429, 500] {
            assert_eq!(Sent::of(Ok(status)), Sent::Failed(format!("status {status}")));
        }
        assert_eq!(Sent::of(Err(StdError::failed("no route"))), Sent::Failed("no route".to_owned()));
    }
}
