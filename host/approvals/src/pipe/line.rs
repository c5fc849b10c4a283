//! Bounded line reader and parser of decisions.

use crate::decision::{Decision, Lasts, Verdict};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};

/// Longest line: fits a reason of 500 characters, each escaped.
pub(super) const MAX_LINE: usize = 16 << 10;
/// Default name of the decider.
const BY: &str = "pipe";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    decision: Verdict,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    by: Option<String>,
    #[serde(default, rename = "for")]
    lasts: Lasts,
}

/// Parses the request id and its decision.
pub(super) fn parse(line: &[u8]) -> Result<(String, Decision), serde_json::Error> {
    let Line { id, decision: verdict, reason, by, lasts } = serde_json::from_slice(line)?;
    Ok((id, Decision { verdict, reason, by: by.unwrap_or_else(|| BY.to_owned()), lasts }))
}

/// Next item of the stream.
pub(super) enum Next {
    /// A line, with or without its newline.
    Line(Vec<u8>),
    /// A line over the limit, discarded.
    TooLong,
    /// End of the stream.
    End,
}

/// Reads the next line, buffering no more than the limit.
pub(super) async fn next(stream: &mut (impl AsyncBufReadExt + Unpin)) -> std::io::Result<Next> {
    let mut line = Vec::new();
    let mut is_long = false;
    loop {
        let count = (&mut *stream).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).await?;
        is_long |= line.len() > MAX_LINE;
        if count == 0 || line.ends_with(b"\n") {
            return Ok(match is_long {
                true => Next::TooLong,
                false if line.is_empty() => Next::End,
                false => Next::Line(line),
            });
        }
        if is_long {
            line.clear();
        }
    }
}
