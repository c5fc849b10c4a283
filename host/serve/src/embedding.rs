//! Embeddings of a catalogue for semantic search. They are computed in the background, in batches that are cached;
//! search works without them until they are complete.

use agent_spaces_project::Outlines;
use agent_spaces_search::{Document, Model, Sentences};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};

/// Functions per batch. A batch never spans two servers, so that another server leaves the cached batches valid.
const BATCH: usize = 50;

/// Computes embeddings with a sentence model. Clones share state.
#[derive(Clone)]
pub(super) struct Embedder {
    model: Arc<LazyModel>,
    outlines: Outlines,
    /// Held while a batch is computed: catalogues mostly share batches, so the second finds the first one's in the
    /// cache.
    turn: Arc<Mutex<()>>,
}

/// Model of many megabytes, loaded on first use. `None` if it could not be loaded.
type LazyModel = LazyLock<Option<Arc<Model>>, Box<dyn FnOnce() -> Option<Arc<Model>> + Send>>;

impl Embedder {
    pub(super) fn new(read: impl FnOnce() -> Option<Model> + Send + 'static, outlines: Outlines) -> Embedder {
        let model: LazyModel = LazyLock::new(Box::new(|| read().map(Arc::new)));
        Embedder { model: Arc::new(model), outlines, turn: Arc::default() }
    }

    /// Computes embeddings in a thread and stores them in `wanted`, unless that was dropped meanwhile.
    pub(super) fn start(&self, documents: Vec<Document>, wanted: &Arc<OnceLock<Sentences>>) {
        let (embedder, wanted) = (self.clone(), Arc::downgrade(wanted));
        // If no thread can be started, search stays lexical.
        let _ = std::thread::Builder::new().name("sentences".to_owned()).spawn(move || {
            if let Some(read) = embedder.read(&documents, &wanted)
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
            for part in server.chunks(BATCH) {
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
