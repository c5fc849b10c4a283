//! Entries from the end of a log back.

use super::{AuditReader, Found, Line, MAX_FILES, ReadEntry, ReadLimits, ReadPage, ReadPosition};
use crate::error::AuditError;
use crate::files::{self, Access};
use crate::line::{FIRST_FILE, MAX_LINE};
use crate::rotate;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Fewest and most bytes that are read at once. Two of the longest lines always have one whole line among them.
const MIN_BLOCK: u64 = 2 * (MAX_LINE as u64 + 1);
const MAX_BLOCK: u64 = 1 << 20;

/// Attempts to open the current file, and the time between them: rotation renames it before the next one has its name.
const MAX_ATTEMPTS: u32 = 5;
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(2);

impl AuditReader {
    /// Reads entries before a position, newest first; from the end of the log if there is none. The page continues before
    /// its `next`, and its end is the start of the log. Blocks.
    ///
    /// Files that were removed and lines that are not entries are skipped, as by [`AuditReader::read`].
    ///
    /// # Errors
    /// If a file cannot be read. A log that does not exist is empty.
    pub fn read_newest(&self, before: Option<ReadPosition>, limits: ReadLimits) -> Result<ReadPage, AuditError> {
        let start = before.unwrap_or(ReadPosition { file: u64::MAX, offset: u64::MAX });
        let mut page = ReadPage { entries: Vec::new(), next: start, is_end: false, scanned: 0 };
        let mut number = start.file;
        for _ in 0..MAX_FILES {
            let Some(found) = self.find_back(number)? else {
                page.is_end = true;
                break;
            };
            if found.number != page.next.file {
                page.next = ReadPosition { file: found.number, offset: u64::MAX };
            }
            if !found.read_back(limits, &mut page)? {
                break;
            }
            number = found.number.saturating_sub(1);
            if number < FIRST_FILE {
                page.is_end = true;
                break;
            }
        }
        Ok(page)
    }

    /// Opens the file with this number, or the last before it that exists; `None` before the first one.
    fn find_back(&self, number: u64) -> Result<Option<Found>, AuditError> {
        let mut number = number;
        for _ in 0..MAX_FILES {
            if number < FIRST_FILE {
                return Ok(None);
            }
            if let Some(found) = self.archive(number)? {
                return Ok(Some(found));
            }
            let Some((file, current, oldest)) = self.current()? else { return Ok(None) };
            if current <= number {
                return Ok(Some(Found { file, path: self.log.clone(), number: current, is_current: true }));
            }
            // It may have been rotated away after the first look.
            if let Some(found) = self.archive(number)? {
                return Ok(Some(found));
            }
            if number <= oldest {
                return Ok(None);
            }
            number = number.saturating_sub(1);
        }
        // Rotation removes only the oldest files, so that these were removed by others.
        Ok(None)
    }

    /// Opens the current file. Returns its number and that of the oldest file too; `None` if there is no log.
    fn current(&self) -> Result<Option<(File, u64, u64)>, AuditError> {
        for attempt in 1..=MAX_ATTEMPTS {
            if let Some(file) = files::open(&self.log, Access::Read)? {
                let (current, oldest) = rotate::numbers(&self.log, &file)?;
                return Ok(Some((file, current, oldest)));
            }
            if attempt < MAX_ATTEMPTS {
                std::thread::sleep(ATTEMPT_INTERVAL);
            }
        }
        Ok(None)
    }
}

impl Found {
    /// Reads lines before the position of a page. Returns true at the start of the file, false at a limit.
    fn read_back(&self, limits: ReadLimits, page: &mut ReadPage) -> Result<bool, AuditError> {
        let length = files::metadata(&self.path, &self.file)?.len();
        page.next.offset = self.line_start(page.next.offset, length)?;
        loop {
            if is_full(limits, page) {
                return Ok(false);
            }
            if page.next.offset == 0 {
                return Ok(true);
            }
            self.read_block(limits, page)?;
        }
    }

    /// Reads the lines of a block that ends at the position of a page.
    fn read_block(&self, limits: ReadLimits, page: &mut ReadPage) -> Result<(), AuditError> {
        let end = page.next.offset;
        let from = end.saturating_sub(limits.bytes.saturating_sub(page.scanned).clamp(MIN_BLOCK, MAX_BLOCK));
        let mut block = vec![0; usize::try_from(end.saturating_sub(from)).unwrap_or_default()];
        // Fewer bytes mean that lines were taken back: those before them are read as far as they go.
        let read = self.file.read_at(&mut block, from).map_err(AuditError::io("read", &self.path))?;
        block.truncate(read);
        // The block begins inside a line, which the next one has whole.
        let first = match from {
            0 => 0,
            _ => block.iter().position(|byte| *byte == b'\n').map_or(block.len(), |place| place + 1),
        };
        let mut at = from.saturating_add(first as u64);
        let mut lines: Vec<(u64, &[u8])> = Vec::new();
        for line in block.get(first..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            lines.push((at, line));
            at = at.saturating_add(line.len() as u64);
        }
        if lines.is_empty() {
            // All of it is inside an overlong line, which is no entry.
            page.scanned = page.scanned.saturating_add(end.saturating_sub(from));
            page.next.offset = from;
        }
        for (start, line) in lines.into_iter().rev() {
            if is_full(limits, page) {
                return Ok(());
            }
            page.scanned = page.scanned.saturating_add(line.len() as u64);
            page.next.offset = start;
            let text = line.strip_suffix(b"\n").filter(|text| text.len() <= MAX_LINE);
            if let Some(Line { seq, time, entry }) = text.and_then(|text| serde_json::from_slice(text).ok()) {
                let after = ReadPosition { file: self.number, offset: start.saturating_add(line.len() as u64) };
                page.entries.push(ReadEntry { seq, time, entry, before: page.next, after });
            }
        }
        Ok(())
    }
}

/// Returns true if a page has reached a limit.
fn is_full(limits: ReadLimits, page: &ReadPage) -> bool {
    page.entries.len() >= limits.entries || (page.scanned > 0 && page.scanned >= limits.bytes)
}
