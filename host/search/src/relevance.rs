//! Relevance threshold: a search that always returns something would send an agent to unrelated functions.

use crate::index::Index;
use crate::lookup::Wanted;
use crate::visible::Visible;
use std::collections::BTreeMap;

/// Minimum score of the best document, by words and meaning. Over 121 servers, questions that found their function had 0.27
/// and more, but for one in a hundred; of questions about cooking, pets and gardens to six servers for developers, 29 of 30 had
/// 0.24 and less.
const FLOOR: f32 = 0.25;
/// Minimum similarity by a sentence model, if words do not match.
const SENTENCE_FLOOR: f32 = 0.4;
/// Minimum number of functions of a server for which a word that all of them have counts as the server's name: a query
/// with that name shows what the server has. Fewer functions may share any word.
const FUNCTIONS_OF_NAMED: usize = 3;

/// Best scores of the visible documents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Best {
    /// By words and meaning.
    pub(crate) own: f32,
    /// By a sentence model.
    pub(crate) sentence: f32,
}

impl Index {
    /// Returns true if anything is relevant.
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
