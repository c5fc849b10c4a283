//! Files of a model: texts, and tensors (`safetensors`: the length of a header, the header as JSON, the values).

use super::error::ModelError;
use blake3::Hasher;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Size limit of a header.
const MAX_HEADER: u64 = 1024 * 1024;
/// Size limit of all tensors together, because they are kept in memory.
const MAX_NUMBERS: u64 = 512 * 1024 * 1024;
/// Bytes read at a time.
const BLOCK: usize = 64 * 1024;

/// Opens a regular file. Others are refused before: opening a named pipe would block until there is a writer.
fn open(file: &Path) -> Result<(File, u64), ModelError> {
    let fail = |source| ModelError::Unreadable { file: file.to_owned(), source };
    let length = |metadata: Metadata| match metadata.is_file() {
        true => Ok(metadata.len()),
        false => Err(ModelError::Unfit { file: file.to_owned(), what: "it is not a regular file".to_owned() }),
    };
    length(std::fs::metadata(file).map_err(fail)?)?;
    let open = File::open(file).map_err(fail)?;
    // The file may have been replaced since the check.
    let length = length(open.metadata().map_err(fail)?)?;
    Ok((open, length))
}

/// Adds a text with its length to a fingerprint, so that texts cannot run together.
pub(super) fn add_text(hasher: &mut Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
}

/// Reads a text file of at most `most` bytes.
pub(super) fn read_text(file: &Path, most: u64) -> Result<String, ModelError> {
    let fail = |source| ModelError::Unreadable { file: file.to_owned(), source };
    let mut text = String::new();
    open(file)?.0.take(most + 1).read_to_string(&mut text).map_err(fail)?;
    if text.len() as u64 > most {
        return Err(ModelError::Unfit { file: file.to_owned(), what: format!("it has more than {most} bytes") });
    }
    Ok(text)
}

/// `safetensors` file.
pub(super) struct Tensors {
    path: PathBuf,
    file: File,
    /// Offset and size of the values, in bytes.
    start: u64,
    length: u64,
    entries: BTreeMap<String, Entry>,
    /// Hash of everything read of the model so far.
    hasher: Hasher,
}

/// Header entry of a tensor, with offsets from the end of the header.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

impl Tensors {
    pub(super) fn open(path: &Path, mut hasher: Hasher) -> Result<Self, ModelError> {
        let fail = |source| ModelError::Unreadable { file: path.to_owned(), source };
        let unfit = |what: String| ModelError::Unfit { file: path.to_owned(), what };
        let (mut file, whole) = open(path)?;
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(fail)?;
        let length = u64::from_le_bytes(length);
        let start = length.saturating_add(8);
        if length > MAX_HEADER || start > whole {
            return Err(unfit("it is not a safetensors file".to_owned()));
        }
        if whole - start > MAX_NUMBERS {
            return Err(unfit(format!("its tensors have more than {MAX_NUMBERS} bytes")));
        }
        let mut header = Vec::new();
        (&mut file).take(length).read_to_end(&mut header).map_err(fail)?;
        hasher.update(&length.to_le_bytes()).update(&header);
        let mut said: BTreeMap<String, Value> =
            serde_json::from_slice(&header).map_err(|error| unfit(format!("its header: {error}")))?;
        // Metadata, not a tensor.
        said.remove("__metadata__");
        let entry = |(name, said): (String, Value)| match Entry::deserialize(&said) {
            Ok(entry) => Ok((name, entry)),
            Err(error) => Err(unfit(format!("`{name}`: {error}"))),
        };
        let entries: BTreeMap<String, Entry> = said.into_iter().map(entry).collect::<Result<_, _>>()?;
        if has_overlap(&entries) {
            return Err(unfit("some of its tensors overlap".to_owned()));
        }
        Ok(Self { path: path.to_owned(), file, start, length: whole - start, entries, hasher })
    }

    /// Returns the offset and size in bytes of a tensor, which must have this shape.
    pub(super) fn find(&self, name: &str, shape: &[usize]) -> Result<(u64, usize), ModelError> {
        let unfit = |what: String| ModelError::Unfit { file: self.path.clone(), what: format!("`{name}` {what}") };
        let entry = self.entries.get(name).ok_or_else(|| unfit("is missing".to_owned()))?;
        if entry.dtype != "F32" || entry.shape != shape {
            let Entry { dtype, shape: has, .. } = entry;
            return Err(unfit(format!("is {dtype} {has:?} and should be F32 {shape:?}")));
        }
        let [from, to] = entry.data_offsets;
        // The product cannot overflow: `Config` limits the dimensions.
        let length = 4 * shape.iter().product::<usize>();
        if to > self.length || to.checked_sub(from) != Some(length as u64) {
            return Err(unfit("is incomplete".to_owned()));
        }
        Ok((self.start + from, length))
    }

    /// Reads a tensor, which must have this shape.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let fail = |source| ModelError::Unreadable { file: self.path.clone(), source };
        let (from, length) = self.find(name, shape)?;
        self.file.seek(SeekFrom::Start(from)).map_err(fail)?;
        let mut numbers = Vec::with_capacity(length / 4);
        let mut block = vec![0; BLOCK];
        while numbers.len() < length / 4 {
            let most = BLOCK.min(length - 4 * numbers.len());
            let (bytes, _) = block.split_at_mut(most);
            self.file.read_exact(bytes).map_err(fail)?;
            self.hasher.update(bytes);
            numbers.extend(bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)));
        }
        Ok(numbers)
    }

    /// Returns a hash that identifies the model.
    pub(super) fn fingerprint(&self) -> String {
        self.hasher.finalize().to_string()
    }
}

/// Returns true if two tensors share bytes: otherwise a small file could take much memory.
fn has_overlap(entries: &BTreeMap<String, Entry>) -> bool {
    let mut ranges: Vec<[u64; 2]> = entries.values().map(|entry| entry.data_offsets).collect();
    ranges.sort_unstable();
    ranges.windows(2).any(|pair| matches!(pair, [[_, end], [start, _]] if end > start))
}
