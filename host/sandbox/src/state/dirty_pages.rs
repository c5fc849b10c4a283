//! Dirty pages: the written part of an engine's memory at one moment of a run.
//!
//! Only written pages are copied: reading the others would map them, which makes every later pagemap scan of the same
//! slot slower.

/// Written pages of an engine's memory.
pub struct DirtyPages {
    /// Length of the whole memory.
    pub length: usize,
    /// Whole pages by their start address; all others are as in a fresh engine.
    pub pages: Vec<(usize, Vec<u8>)>,
}

impl DirtyPages {
    /// Copies the dirty pages of a memory, given without its first byte: that is the null pointer's, and never written.
    pub fn take(all_but_first: &[u8]) -> DirtyPages {
        let length = all_but_first.len() + 1;
        let page = page_bytes();
        let starts = (0..length).step_by(page);
        let written = written(all_but_first.as_ptr().addr().wrapping_sub(1), starts.len());
        let pages = starts.zip(written).filter(|(_, is_written)| *is_written).map(|(start, _)| {
            let end = (start + page).min(length);
            let bytes = match start {
                0 => [&[0], &all_but_first[..end - 1]].concat(),
                _ => all_but_first[start - 1..end - 1].to_vec(),
            };
            (start, bytes)
        });
        DirtyPages { length, pages: pages.collect() }
    }
}

impl DirtyPages {
    /// Replaces a word of a page. Returns `None` if there is none.
    #[cfg(feature = "compile")]
    pub(crate) fn write(&mut self, address: usize, word: [u8; 4]) -> Option<()> {
        let (start, page) =
            self.pages.iter_mut().find(|(start, page)| (*start..*start + page.len()).contains(&address))?;
        page.get_mut(address - *start..)?.get_mut(..word.len())?.copy_from_slice(&word);
        Some(())
    }
}

/// Returns which pages may have been written: all, if the system does not tell.
fn written(address: usize, count: usize) -> Vec<bool> {
    flags(address, count).unwrap_or_else(|| vec![true; count])
}

#[cfg(target_os = "linux")]
fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Any size works on systems that do not tell which pages were written.
#[cfg(not(target_os = "linux"))]
fn page_bytes() -> usize {
    64 << 10
}

/// Reads `/proc/self/pagemap`: a written page is present or swapped, and not file-backed.
#[cfg(target_os = "linux")]
fn flags(address: usize, count: usize) -> Option<Vec<bool>> {
    use std::os::unix::fs::FileExt as _;
    const ENTRY: usize = 8;
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const FILE: u64 = 1 << 61;
    let page = page_bytes();
    if !address.is_multiple_of(page) {
        return None;
    }
    let mut entries = vec![0; count * ENTRY];
    let file = std::fs::File::open("/proc/self/pagemap").ok()?;
    file.read_exact_at(&mut entries, (address / page * ENTRY) as u64).ok()?;
    let entries = entries.as_chunks::<ENTRY>().0.iter().map(|entry| u64::from_ne_bytes(*entry));
    Some(entries.map(|entry| entry & (PRESENT | SWAPPED) != 0 && entry & FILE == 0).collect())
}

#[cfg(not(target_os = "linux"))]
fn flags(_address: usize, _count: usize) -> Option<Vec<bool>> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::DirtyPages;
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    #[test]
    #[expect(unsafe_code, reason = "memory of which no page was written yet")]
    fn only_written_pages_are_copied() {
        let page = rustix::param::page_size();
        let length = 8 * page;
        // SAFETY: new memory, which nothing else uses before it is unmapped.
        let taken = unsafe {
            let start =
                mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
            let start = start.unwrap().cast::<u8>();
            start.add(1).write(1);
            start.add(3 * page + 5).write(3);
            start.add(length - 1).write(7);
            let taken = DirtyPages::take(std::slice::from_raw_parts(start.add(1), length - 1));
            munmap(start.cast(), length).unwrap();
            taken
        };
        assert_eq!(taken.length, length);
        let expected = [0, 3 * page, 7 * page];
        assert_eq!(taken.pages.iter().map(|(start, _)| *start).collect::<Vec<_>>(), expected);
        for (start, bytes) in &taken.pages {
            assert_eq!(bytes.len(), page);
            let written: Vec<_> = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0).collect();
            match start / page {
                0 => assert_eq!(written, [(1, &1)]),
                3 => assert_eq!(written, [(5, &3)]),
                7 => assert_eq!(written, [(page - 1, &7)]),
                _ => assert!(written.is_empty()),
            }
        }
    }
}
