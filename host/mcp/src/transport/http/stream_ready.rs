//! Wait for the event stream on which a server sends its own requests.

use std::time::Duration;
use tokio::sync::watch;

/// Longest wait for the stream: some servers answer the GET request only with their first event.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Signal that the event stream of a session is open. Many servers discard requests they make before that, so a call that
/// causes one must not overtake the stream.
pub(super) struct StreamReady(watch::Sender<bool>);

impl StreamReady {
    /// Creates the signal. If the server may send no requests, there is nothing to wait for.
    pub(super) fn new(may_ask: bool) -> StreamReady {
        StreamReady(watch::Sender::new(!may_ask))
    }

    /// Signals that the server opened the stream or refused it.
    pub(super) fn settled(&self) {
        self.0.send_replace(true);
    }

    /// Waits for the signal or the timeout. Only the first call can wait.
    pub(super) async fn wait(&self) {
        let mut settled = self.0.subscribe();
        if tokio::time::timeout(TIMEOUT, settled.wait_for(|is_settled| *is_settled)).await.is_err() {
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

    /// Measures the first two calls to a server that never answers the request for the stream.
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
    async fn only_the_first_call_waits_for_the_stream() {
        let [first, second] = calls_to_a_silent_server(Elicitation::Defaults).await;
        assert!(first >= TIMEOUT && second < TIMEOUT, "{first:?} {second:?}");
    }

    #[tokio::test]
    async fn calls_do_not_wait_if_the_server_may_send_no_requests() {
        let [first, _] = calls_to_a_silent_server(Elicitation::Refuse).await;
        assert!(first < TIMEOUT, "{first:?}");
    }

    #[tokio::test]
    async fn waiting_ends_with_the_signal() {
        let stream_ready = StreamReady::new(true);
        let began = Instant::now();
        tokio::join!(stream_ready.wait(), async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            stream_ready.settled();
        });
        assert!(began.elapsed() >= Duration::from_millis(20) && began.elapsed() < TIMEOUT);
    }
}
