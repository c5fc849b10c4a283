//! What a sentence model makes of a catalogue. That takes long, so it is done behind the callers' backs, in parts that are kept, and
//! search does without until it is done.

use crate::project::Outlines;
use agent_spaces_search::{Document, Model, Sentences};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};

/// Functions that the model is asked about in one go. Parts end with their server too, so that another server changes none of them.
const PART: usize = 50;

/// A sentence model that catalogues are shown to, one after another; clones are one.
#[derive(Clone)]
pub(super) struct Reader {
    model: Arc<LazyModel>,
    outlines: Outlines,
    /// Held while a part is made: two catalogues mostly have the same parts, and the second finds what the first has made.
    turn: Arc<Mutex<()>>,
}

/// A model that is read when it is first used: it has many megabytes, and nobody should wait for that. Nothing where it could not be
/// read.
type LazyModel = LazyLock<Option<Arc<Model>>, Box<dyn FnOnce() -> Option<Arc<Model>> + Send>>;

impl Reader {
    pub(super) fn new(read: impl FnOnce() -> Option<Model> + Send + 'static, outlines: Outlines) -> Reader {
        let model: LazyModel = LazyLock::new(Box::new(|| read().map(Arc::new)));
        Reader { model: Arc::new(model), outlines, turn: Arc::default() }
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
        let model = self.model.as_ref().as_ref()?;
        let mut all = Sentences::new(model.clone(), &[]);
        for server in documents.chunk_by(|one, other| one.server == other.server) {
            for part in server.chunks(PART) {
                let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
                if wanted.strong_count() == 0 {
                    return None;
                }
                all.append(&self.part(model, part));
            }
        }
        Some(all)
    }

    fn part(&self, model: &Arc<Model>, documents: &[Document]) -> Sentences {
        let key = key(model, documents);
        let kept = self.outlines.read_bytes(&key);
        let kept = kept.and_then(|bytes| Sentences::from_bytes(model.clone(), &bytes).ok());
        kept.filter(|kept| kept.len() == documents.len()).unwrap_or_else(|| {
            let made = Sentences::new(model.clone(), documents);
            self.outlines.write_bytes(&key, &made.to_bytes());
            made
        })
    }
}

fn key(model: &Model, documents: &[Document]) -> String {
    let texts = documents.iter().flat_map(|document| {
        [&document.server, &document.name, &document.title, &document.description].map(String::as_str)
    });
    format!("{}.sentences", Outlines::key(std::iter::once(model.fingerprint()).chain(texts)))
}
