//! Waiting for the stream on which a server asks things by itself.

use std::time::Duration;
use tokio::sync::watch;

/// There are servers that answer only when they have something to say: nobody waits longer than this for them.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether a session's own stream is there. What a server asks before that, many servers throw away: a call that makes
/// it ask must not overtake the stream.
pub(super) struct Listening(watch::Sender<bool>);

impl Listening {
    /// Where a server may ask nothing, nobody waits.
    pub(super) fn new(may_ask: bool) -> Listening {
        Listening(watch::Sender::new(!may_ask))
    }

    /// The server gave the stream, or said that it has none.
    pub(super) fn settled(&self) {
        self.0.send_replace(true);
    }

    /// Waits until that is settled, once.
    pub(super) async fn wait(&self) {
        let mut settled = self.0.subscribe();
        if tokio::time::timeout(PATIENCE, settled.wait_for(|is_settled| *is_settled)).await.is_err() {
            self.settled();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::testing::*;
    use crate::transport::{HttpClient, http};
    use crate::{Context, Elicitation};
    use rmcp::ServiceExt;
    use std::time::Instant;

    /// How long the first two calls to a server take that never answers the request for the stream.
    async fn calls_to_a_silent_server(elicitation: Elicitation) -> [Duration; 2] {
        let server = Server::start(|seen| match answer(&seen.body) {
            Some(answer) => Reply::Whole(response("200 OK", "application/json", &answer.to_string())),
            None if seen.line.starts_with("POST") => Reply::Whole(bare("202 Accepted", "")),
            None => Reply::Never,
        })
        .await;
        let (mut settings, endpoint) = settings(&server.url);
        settings.elicitation = elicitation;
        let client = HttpClient::new(&settings, &endpoint, &Context::default()).unwrap();
        let client = ().serve(http::open(&settings, &endpoint, client, None).unwrap()).await.unwrap();
        let mut took = [Duration::ZERO; 2];
        for took in &mut took {
            let began = Instant::now();
            assert_eq!(call(&client, "hello").await.unwrap(), "hello");
            *took = began.elapsed();
        }
        took
    }

    #[tokio::test]
    async fn a_call_waits_for_the_stream_that_it_may_be_asked_on_and_only_once() {
        let [first, second] = calls_to_a_silent_server(Elicitation::Defaults).await;
        assert!(first >= PATIENCE && second < PATIENCE, "{first:?} {second:?}");
    }

    #[tokio::test]
    async fn where_a_server_may_ask_nothing_nobody_waits() {
        let [first, _] = calls_to_a_silent_server(Elicitation::Refuse).await;
        assert!(first < PATIENCE, "{first:?}");
    }

    #[tokio::test]
    async fn waiting_ends_with_the_answer() {
        let listening = Listening::new(true);
        let began = Instant::now();
        tokio::join!(listening.wait(), async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            listening.settled();
        });
        assert!(began.elapsed() >= Duration::from_millis(20) && began.elapsed() < PATIENCE);
    }
}
