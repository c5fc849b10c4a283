//! The files of a model: texts, and numbers by name (`safetensors`: the length of a header, the header as JSON, the numbers).

use super::error::ModelError;
use crate::table::fingerprint;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The longest header that is read.
const MAX_HEADER: u64 = 1024 * 1024;

/// A file's text, of at most so many bytes.
pub(super) fn read_text(file: &Path, most: u64) -> Result<String, ModelError> {
    let fail = |source| ModelError::Unreadable { file: file.to_owned(), source };
    let mut text = String::new();
    File::open(file).and_then(|open| open.take(most + 1).read_to_string(&mut text)).map_err(fail)?;
    if text.len() as u64 > most {
        return Err(ModelError::Unfit { file: file.to_owned(), what: format!("it has more than {most} bytes") });
    }
    Ok(text)
}

/// A file of numbers.
pub(super) struct Tensors {
    path: PathBuf,
    file: File,
    /// Where the numbers begin, and how many bytes they have.
    start: u64,
    length: u64,
    entries: BTreeMap<String, Value>,
    fingerprint: u64,
}

/// Where numbers are, counted from the end of the header.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

impl Tensors {
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let fail = |source| ModelError::Unreadable { file: path.to_owned(), source };
        let mut file = File::open(path).map_err(fail)?;
        let whole = file.metadata().map_err(fail)?.len();
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(fail)?;
        let length = u64::from_le_bytes(length);
        let start = length.saturating_add(8);
        if length > MAX_HEADER || start > whole {
            return Err(ModelError::Unfit { file: path.to_owned(), what: "it is no safetensors file".to_owned() });
        }
        let mut header = Vec::new();
        (&mut file).take(length).read_to_end(&mut header).map_err(fail)?;
        let entries = serde_json::from_slice(&header)
            .map_err(|error| ModelError::Unfit { file: path.to_owned(), what: format!("its header: {error}") })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            start,
            length: whole - start,
            entries,
            fingerprint: fingerprint(&header),
        })
    }

    /// The numbers of this name, which must have this shape.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let unfit = |what: String| ModelError::Unfit { file: self.path.clone(), what: format!("`{name}` {what}") };
        let entry = self.entries.get(name).ok_or_else(|| unfit("is missing".to_owned()))?;
        let entry = Entry::deserialize(entry).map_err(|error| unfit(error.to_string()))?;
        if entry.dtype != "F32" || entry.shape != shape {
            let Entry { dtype, shape: has, .. } = entry;
            return Err(unfit(format!("is {dtype} {has:?} and should be F32 {shape:?}")));
        }
        let [from, to] = entry.data_offsets;
        // No product overflows: the largest shape is bounded by `Shape`.
        let length = 4 * shape.iter().product::<usize>();
        if to > self.length || to.checked_sub(from) != Some(length as u64) {
            return Err(unfit("is not whole".to_owned()));
        }
        let mut bytes = vec![0; length];
        let read = self.file.seek(SeekFrom::Start(self.start + from)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|source| ModelError::Unreadable { file: self.path.clone(), source })?;
        self.fingerprint = self.fingerprint.rotate_left(1) ^ fingerprint(&bytes);
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    /// Tells what was taken from what others have.
    pub(super) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}
