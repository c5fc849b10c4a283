//! What a sentence model makes of a catalogue. That takes long, so it is done behind the callers' backs, in parts that are kept, and
//! search does without until it is done.

use crate::project::Outlines;
use agent_spaces_search::{Document, Model, Sentences};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Functions that the model is asked about in one go. Parts end with their server too, so that another server changes none of them.
const PART: usize = 50;

/// A sentence model that catalogues are shown to, one after another; clones are one.
#[derive(Clone)]
pub(super) struct Reader {
    model: Arc<Model>,
    outlines: Outlines,
    /// Held while a part is made: two catalogues mostly have the same parts, and the second finds what the first has made.
    turn: Arc<Mutex<()>>,
}

impl Reader {
    pub(super) fn new(model: Arc<Model>, outlines: Outlines) -> Reader {
        Reader { model, outlines, turn: Arc::default() }
    }

    /// Reads documents in a thread of its own. What comes of it is put where it is wanted, unless nobody wants it any more.
    pub(super) fn start(&self, documents: Vec<Document>, wanted: &Arc<OnceLock<Sentences>>) {
        let (reader, wanted) = (self.clone(), Arc::downgrade(wanted));
        // Without a thread, search is as good as without a model.
        let _ = std::thread::Builder::new().name("sentences".to_owned()).spawn(move || {
            if let Some(read) = reader.read(&documents, &wanted)
                && let Some(wanted) = wanted.upgrade()
            {
                let _is_first = wanted.set(read);
            }
        });
    }

    fn read(&self, documents: &[Document], wanted: &Weak<OnceLock<Sentences>>) -> Option<Sentences> {
        let mut all = Sentences::new(self.model.clone(), &[]);
        for server in documents.chunk_by(|one, other| one.server == other.server) {
            for part in server.chunks(PART) {
                let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
                if wanted.strong_count() == 0 {
                    return None;
                }
                all.append(&self.part(part));
            }
        }
        Some(all)
    }

    fn part(&self, documents: &[Document]) -> Sentences {
        let key = self.key(documents);
        let kept = self.outlines.read_bytes(&key);
        let kept = kept.and_then(|bytes| Sentences::from_bytes(self.model.clone(), &bytes).ok());
        kept.filter(|kept| kept.len() == documents.len()).unwrap_or_else(|| {
            let made = Sentences::new(self.model.clone(), documents);
            self.outlines.write_bytes(&key, &made.to_bytes());
            made
        })
    }

    fn key(&self, documents: &[Document]) -> String {
        let model = self.model.fingerprint().to_string();
        let texts = documents.iter().flat_map(|document| {
            [&document.server, &document.name, &document.title, &document.description].map(String::as_str)
        });
        format!("{}.sentences", Outlines::key(std::iter::once(model.as_str()).chain(texts)))
    }
}
