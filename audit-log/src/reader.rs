//! Lines of a file, one at a time.

use crate::line::MAX_LINE;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};

/// How much is read at once.
const BUFFER: usize = 256 << 10;

/// Reads the lines of a part of a file. However large it is, no more than one line and a buffer are held.
pub(crate) struct Lines<'a> {
    reader: BufReader<Take<&'a File>>,
    line: Vec<u8>,
}

/// What was read.
pub(crate) enum Piece<'a> {
    /// A line, without its end.
    Line(&'a [u8]),
    /// What stands after the last end of a line, or the beginning of a line longer than any of ours.
    Torn(&'a [u8]),
    /// Nothing more.
    End,
}

impl<'a> Lines<'a> {
    /// The lines between two places, in bytes.
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
