//! Line reader with a length limit.

use super::answer_scanner::AnswerScanner;
use super::excerpt::KEPT;
use rmcp::model::RequestId;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// One line, without its line break.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// Complete line.
    Whole(Vec<u8>),
    /// Line over the length limit, which was skipped.
    TooLong {
        /// Beginning of the line.
        beginning: Vec<u8>,
        /// Ids of the requests that it answers, if it consists of messages.
        answers: Vec<RequestId>,
    },
}

/// Reads lines. Buffers no more than the limit.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// Set while a line is skipped.
    scanner: Option<AnswerScanner>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Lines<R> {
        Lines { reader: BufReader::with_capacity(64 << 10, reader), limit, line: Vec::new(), scanner: None }
    }

    /// Returns the next line, or `None` at the end or after a read error. The last line needs no line break.
    ///
    /// Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            let available = self.reader.fill_buf().await.unwrap_or_default();
            if available.is_empty() {
                // The end of a skipped line was not reached.
                return if self.scanner.is_none() && !self.line.is_empty() { Some(self.finish()) } else { None };
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let consumed = part.len() + usize::from(end.is_some());
            if let Some(scanner) = &mut self.scanner {
                scanner.feed(part);
            } else if self.line.len().saturating_add(part.len()) > self.limit {
                let mut scanner = AnswerScanner::default();
                scanner.feed(&self.line);
                scanner.feed(part);
                self.scanner = Some(scanner);
                let room = KEPT.saturating_sub(self.line.len()).min(part.len());
                self.line.extend_from_slice(part.get(..room).unwrap_or_default());
                self.line.truncate(KEPT);
                self.line.shrink_to_fit();
            } else {
                self.line.extend_from_slice(part);
            }
            self.reader.consume(consumed);
            if end.is_some() {
                return Some(self.finish());
            }
        }
    }

    fn finish(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        match self.scanner.take() {
            None => Line::Whole(line),
            Some(scanner) => Line::TooLong { beginning: line, answers: scanner.answers() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    async fn lines(limit: usize, input: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(input, limit);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn the_last_line_needs_no_line_break() {
        assert_eq!(
            lines(8, b"one\n\ntwo\r\n12345678\nlast").await,
            [whole("one"), whole(""), whole("two\r"), whole("12345678"), whole("last")]
        );
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_but_its_id_is_found() {
        let long = format!(r#"{{"result":"{}","id":3}}"#, "a".repeat(1 << 20));
        let read = lines(100_000, format!("{long}\nnext\n").as_bytes()).await;
        let Line::TooLong { beginning, answers } = &read[0] else { panic!("not too long") };
        assert_eq!(beginning.as_slice(), &long.as_bytes()[..KEPT]);
        assert_eq!(*answers, [RequestId::Number(3)]);
        assert_eq!(read[1], whole("next"));
        let short = lines(4, b"12345\n").await;
        assert_eq!(short, [Line::TooLong { beginning: b"12345".to_vec(), answers: Vec::new() }]);
    }

    #[tokio::test]
    async fn memory_stays_small_on_a_line_without_end() {
        let (mut write, read) = tokio::io::duplex(1 << 16);
        let writer = tokio::spawn(async move {
            for _ in 0..512 {
                write.write_all(&[b'x'; 1 << 16]).await.unwrap();
            }
        });
        let mut lines = Lines::new(read, 1 << 16);
        assert_eq!(lines.next().await, None);
        assert!(lines.line.capacity() <= 2 * KEPT);
        writer.await.unwrap();
    }

    #[tokio::test]
    async fn reading_is_cancel_safe() {
        let (mut write, read) = tokio::io::duplex(64);
        let mut lines = Lines::new(read, 1 << 16);
        write.write_all(b"first ").await.unwrap();
        let short = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(short, lines.next()).await.is_err());
        write.write_all(b"half\n").await.unwrap();
        assert_eq!(lines.next().await, Some(whole("first half")));
    }
}
