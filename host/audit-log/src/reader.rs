//! Line reader with bounded memory.

use crate::line::MAX_LINE;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};

/// Read buffer size.
const BUFFER: usize = 256 << 10;

/// Reads the lines of a range of a file, holding at most one line and a buffer.
pub(crate) struct Lines<'a> {
    reader: BufReader<Take<&'a File>>,
    line: Vec<u8>,
}

/// Item of a file.
pub(crate) enum Piece<'a> {
    /// A line, without its newline.
    Line(&'a [u8]),
    /// Bytes after the last newline, or the beginning of an overlong line.
    Torn(&'a [u8]),
    /// End of the range.
    End,
}

impl<'a> Lines<'a> {
    /// Reads the lines between two byte offsets.
    pub(crate) fn between(mut file: &'a File, from: u64, to: u64) -> io::Result<Lines<'a>> {
        file.seek(SeekFrom::Start(from))?;
        let reader = BufReader::with_capacity(BUFFER, file.take(to.saturating_sub(from)));
        Ok(Lines { reader, line: Vec::new() })
    }

    pub(crate) fn next(&mut self) -> io::Result<Piece<'_>> {
        self.line.clear();
        (&mut self.reader).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut self.line)?;
        Ok(match self.line.strip_suffix(b"\n") {
            Some(line) => Piece::Line(line),
            None if self.line.is_empty() => Piece::End,
            None => Piece::Torn(&self.line),
        })
    }
}
