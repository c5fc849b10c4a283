//! Whether anything fits a query at all: a search that always finds something sends an agent after functions that have nothing to
//! do with what it wants.

use crate::index::Index;
use crate::lookup::Wanted;
use crate::visible::Visible;
use std::collections::BTreeMap;

/// What the best document must have, by words and meaning together. Over 121 servers, questions that found their function had 0.27
/// and more, but for one in a hundred; of questions about cooking, pets and gardens to six servers for developers, 29 of 30 had
/// 0.24 and less.
const FLOOR: f32 = 0.25;
/// What a sentence model must find near where words do not.
const SENTENCE_FLOOR: f32 = 0.4;
/// A word that all functions of a server have names the server, where it has as many as this: who asks for it by name is shown
/// what it has. Of fewer functions any word may stand in all.
const FUNCTIONS_OF_NAMED: usize = 3;

/// What the best of the visible documents has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Best {
    /// By words and meaning together.
    pub(crate) own: f32,
    /// By a sentence model.
    pub(crate) sentence: f32,
}

impl Index {
    /// Whether something fits.
    pub(crate) fn has_relevant(&self, best: Best, wanted: &[Wanted], visible: &Visible) -> bool {
        best.own >= FLOOR || best.sentence >= SENTENCE_FLOOR || self.is_server_named(wanted, visible)
    }

    fn is_server_named(&self, wanted: &[Wanted], visible: &Visible) -> bool {
        let count = |documents: &mut dyn Iterator<Item = usize>| {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for document in documents.filter(|document| visible.has(*document)) {
                if let Some(server) = self.stored.servers.get(document) {
                    *counts.entry(*server).or_default() += 1;
                }
            }
            counts
        };
        let sizes = count(&mut (0..self.len()));
        let is_name = |wanted: &Wanted| {
            let term = wanted.exact().and_then(|term| self.stored.terms.get(term));
            let postings = term.into_iter().flat_map(|term| &term.postings);
            let having = count(&mut postings.map(|posting| posting.document as usize));
            having.iter().any(|(server, having)| *having >= FUNCTIONS_OF_NAMED && sizes.get(server) == Some(having))
        };
        wanted.iter().any(is_name)
    }
}
