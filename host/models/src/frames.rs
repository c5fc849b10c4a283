//! Incremental parser of server-sent events and JSON lines.
//!
//! Server-sent events are read by the rules of WHATWG, with two differences: invalid UTF-8 is a failure, because text of
//! a model must not change silently, and events without data are left out, because servers send them only to keep a
//! connection alive.

use crate::ModelError;
use crate::ModelErrorKind::{Cut, Malformed, TooLarge};
use crate::bounds::{MAX_EVENT, MAX_STREAM};

#[cfg(test)]
mod tests;

/// Framing of the events of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value a line.
    Lines,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// Name of a server-sent event (`event:`); empty without one, and for JSON lines.
    pub name: &'a str,
    /// Its data: all `data:` lines joined by a line feed, or the line.
    pub data: &'a str,
}

/// Callback for each frame. `Ok(true)`: the rest of the stream is not read.
type Take<'a> = dyn FnMut(Frame<'_>) -> Result<bool, ModelError> + 'a;

/// Splits chunks into frames. Every byte is searched for a line end once and copied at most twice.
pub(crate) struct Frames {
    framing: Framing,
    /// Bytes that were taken so far.
    total: usize,
    /// The unfinished line.
    line: Vec<u8>,
    /// The chunk before ended with a carriage return: a line feed now belongs to it.
    after_return: bool,
    /// No line was finished yet: the first may begin with a byte order mark.
    is_first: bool,
    /// Name of the unfinished event.
    name: String,
    /// Its data so far; `None` before its first `data:` line.
    data: Option<String>,
    /// A frame was the last one.
    is_done: bool,
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Frames {
            framing,
            total: 0,
            line: Vec::new(),
            after_return: false,
            is_first: true,
            name: String::new(),
            data: None,
            is_done: false,
        }
    }

    /// Takes a chunk and gives each frame that is complete to `take`, until one gives `Ok(true)` or fails.
    pub(crate) fn push(&mut self, chunk: &[u8], take: &mut Take<'_>) -> Result<bool, ModelError> {
        if self.is_done {
            return Ok(true);
        }
        self.total = self.total.saturating_add(chunk.len());
        if self.total > MAX_STREAM {
            return Err(too_large("The stream", MAX_STREAM));
        }
        let mut rest = chunk;
        if let Some((first, after)) = rest.split_first()
            && std::mem::take(&mut self.after_return)
            && *first == b'\n'
        {
            rest = after;
        }
        while let Some(length) = self.line_length(rest) {
            let (line, ending) = rest.split_at(length);
            rest = match ending {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            if self.end_line(line, take)? {
                self.is_done = true;
                return Ok(true);
            }
        }
        self.check_event(rest.len())?;
        self.line.extend_from_slice(rest);
        Ok(false)
    }

    /// At the end of the stream: an unfinished last line or event is given too, if it holds data.
    ///
    /// # Errors
    /// `Cut`, if the stream ends within a character; else those of [`Frames::push`].
    pub(crate) fn end(&mut self, take: &mut Take<'_>) -> Result<bool, ModelError> {
        if self.is_done {
            return Ok(true);
        }
        if str::from_utf8(&self.line).is_err_and(|error| error.error_len().is_none()) {
            return Err(ModelError::new(Cut, "The stream ended before its end"));
        }
        let has_line = !self.line.is_empty();
        self.is_done = (has_line && self.end_line(&[], take)?) || self.dispatch(take)?;
        Ok(self.is_done)
    }

    /// Bytes before the first line end. JSON lines end with a line feed alone: a carriage return is white space there.
    fn line_length(&self, bytes: &[u8]) -> Option<usize> {
        match self.framing {
            Framing::Events => memchr::memchr2(b'\r', b'\n', bytes),
            Framing::Lines => memchr::memchr(b'\n', bytes),
        }
    }

    /// Reads the line that `last` ends.
    fn end_line(&mut self, last: &[u8], take: &mut Take<'_>) -> Result<bool, ModelError> {
        self.check_event(last.len())?;
        if self.line.is_empty() {
            return self.read_line(last, take);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(last);
        let is_done = self.read_line(&line, take);
        line.clear();
        self.line = line;
        is_done
    }

    fn read_line(&mut self, line: &[u8], take: &mut Take<'_>) -> Result<bool, ModelError> {
        let is_first = std::mem::take(&mut self.is_first);
        let line = if is_first { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        let line = str::from_utf8(line).map_err(|_| ModelError::new(Malformed, "The stream contains invalid UTF-8"))?;
        match self.framing {
            Framing::Events => self.field(line, take),
            Framing::Lines => match line.trim() {
                "" => Ok(false),
                data => take(Frame { name: "", data }),
            },
        }
    }

    /// Reads a line of a server-sent event.
    fn field(&mut self, line: &str, take: &mut Take<'_>) -> Result<bool, ModelError> {
        if line.is_empty() {
            return self.dispatch(take);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => {
                self.name.clear();
                self.name.push_str(value);
            }
            // A comment has no name. `id` and `retry` are for connections that are resumed.
            _ => {}
        }
        Ok(false)
    }

    /// Gives the event that ends here, if it holds data.
    fn dispatch(&mut self, take: &mut Take<'_>) -> Result<bool, ModelError> {
        let (name, data) = (std::mem::take(&mut self.name), self.data.take().unwrap_or_default());
        if data.trim().is_empty() { Ok(false) } else { take(Frame { name: &name, data: &data }) }
    }

    /// Refuses an event that would be too large with `more` bytes.
    fn check_event(&self, more: usize) -> Result<(), ModelError> {
        let data = self.data.as_ref().map_or(0, String::len);
        let held = self.line.len().saturating_add(self.name.len()).saturating_add(data);
        if held.saturating_add(more) > MAX_EVENT { Err(too_large("An event of the stream", MAX_EVENT)) } else { Ok(()) }
    }
}

fn too_large(what: &str, most: usize) -> ModelError {
    ModelError::new(TooLarge, format!("{what} has more than {most} bytes"))
}
