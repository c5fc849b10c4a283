//! Bounded write queue for a server that may not read.

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Limit on queued bytes.
const MAX_WAITING: usize = 32 << 20;

/// Memory of a queued message in addition to its bytes.
const OVERHEAD: usize = 128;

/// Timeout for writing the queue when the outbox is closed.
const FLUSH: Duration = Duration::from_millis(200);

/// Writes lines in the order in which they are queued. Queueing never waits.
pub(super) struct Outbox {
    queue: Option<UnboundedSender<Vec<u8>>>,
    waiting: Arc<AtomicUsize>,
    broken: CancellationToken,
    writer: JoinHandle<()>,
}

impl Outbox {
    pub(super) fn new(pipe: impl AsyncWrite + Send + Unpin + 'static) -> Outbox {
        let (queue, lines) = unbounded_channel();
        let (waiting, broken) = (Arc::new(AtomicUsize::new(0)), CancellationToken::new());
        let writer = tokio::spawn(write(pipe, lines, waiting.clone(), broken.clone()));
        Outbox { queue: Some(queue), waiting, broken, writer }
    }

    /// Queues a line, which must end with a line break.
    pub(super) fn put(&self, line: Vec<u8>) -> Result<()> {
        let closed = || Error::new(ErrorKind::BrokenPipe, "the server closed its stdin");
        let queue = self.queue.as_ref().filter(|_| !self.broken.is_cancelled()).ok_or_else(closed)?;
        let cost = cost(&line);
        let before = self.waiting.fetch_add(cost, Ordering::Relaxed);
        // A single large line is always accepted.
        if before > 0 && before.saturating_add(cost) > MAX_WAITING {
            self.waiting.fetch_sub(cost, Ordering::Relaxed);
            let text = format!("the server does not read its stdin; {before} bytes are queued");
            return Err(Error::new(ErrorKind::WouldBlock, text));
        }
        queue.send(line).map_err(|_| closed())
    }

    /// Returns a token that is cancelled when the server has closed its stdin.
    pub(super) fn broken(&self) -> CancellationToken {
        self.broken.clone()
    }

    /// Writes what it can within the timeout, then closes the server's stdin.
    pub(super) async fn close(&mut self) {
        if self.queue.take().is_some() && tokio::time::timeout(FLUSH, &mut self.writer).await.is_err() {
            self.writer.abort();
            // The pipe is closed when the task ends.
            let _ = (&mut self.writer).await;
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

fn cost(line: &[u8]) -> usize {
    line.len().saturating_add(OVERHEAD)
}

async fn write(
    mut pipe: impl AsyncWrite + Unpin,
    mut lines: UnboundedReceiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    broken: CancellationToken,
) {
    while let Some(line) = lines.recv().await {
        if pipe.write_all(&line).await.is_err() || pipe.flush().await.is_err() {
            broken.cancel();
            return;
        }
        waiting.fetch_sub(cost(&line), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn lines_are_written_in_order() {
        let (pipe, mut other) = tokio::io::duplex(16);
        let mut outbox = Outbox::new(pipe);
        let lines: Vec<String> = (0..1000).map(|number| format!("{number}\n")).collect();
        for line in &lines {
            outbox.put(line.clone().into_bytes()).unwrap();
        }
        let reader = tokio::spawn(async move {
            let mut all = String::new();
            other.read_to_string(&mut all).await.unwrap();
            all
        });
        outbox.close().await;
        assert_eq!(reader.await.unwrap(), lines.concat());
        assert!(outbox.put(Vec::new()).is_err());
    }

    #[tokio::test]
    async fn the_queue_of_a_server_that_does_not_read_is_bounded() {
        let (pipe, other) = tokio::io::duplex(16);
        let mut outbox = Outbox::new(pipe);
        outbox.put(vec![b'a'; 2 * MAX_WAITING]).unwrap();
        let refused = outbox.put(vec![b'a'; 10]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::WouldBlock);
        let began = std::time::Instant::now();
        outbox.close().await;
        assert!(began.elapsed() < Duration::from_secs(10));
        drop(other);
    }

    #[tokio::test]
    async fn a_closed_input_is_noticed() {
        let (pipe, other) = tokio::io::duplex(16);
        drop(other);
        let outbox = Outbox::new(pipe);
        outbox.put(b"a\n".to_vec()).unwrap();
        outbox.broken().cancelled().await;
        assert_eq!(outbox.put(b"a\n".to_vec()).unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}
