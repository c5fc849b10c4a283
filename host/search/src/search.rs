//! Ranking of documents for a query.

use crate::bm25f::is_searchable;
use crate::index::Index;
use crate::limits::{MAX_QUERY_CHARACTERS, MAX_QUERY_WORDS};
use crate::lookup::Wanted;
use crate::relevance::Best;
use crate::sentences::Sentences;
use crate::stop_words::is_stop_word;
use crate::tokenize::words;
use crate::vectors::Vectors;
use crate::visible::Visible;

/// Weight of the server's mean score: a server about music is the place to look for songs.
const SERVER_SHARE: f32 = 0.3;
/// Weight of a sentence model beside words and the table. Up to four times as much hardly changes the results.
const SENTENCE_SHARE: f32 = 0.5;

/// Search result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index of the document in the list that the index was built from.
    pub document: usize,
    /// Score, above 0 and below 4. Only comparable within one query.
    pub score: f32,
}

impl Index {
    /// Returns the most relevant documents, best first; ties are in the order of the documents.
    ///
    /// Documents that `is_visible` refuses are not found and do not affect the results: they are those of an index
    /// without them, except for how the forms of a word are told apart. `is_visible` is called once for each document.
    /// A query without words, or without relevant documents, finds nothing.
    pub fn search(&self, query: &str, limit: usize, is_visible: impl Fn(usize) -> bool) -> Vec<Hit> {
        self.search_with(None, query, limit, is_visible)
    }

    /// Like [`Index::search`], with the embeddings of a sentence model for the same documents.
    pub fn search_with(
        &self,
        sentences: Option<&Sentences>,
        query: &str,
        limit: usize,
        is_visible: impl Fn(usize) -> bool,
    ) -> Vec<Hit> {
        let asked = asked(query);
        if asked.is_empty() || limit == 0 {
            return Vec::new();
        }
        let visible = Visible::new(self.len(), is_visible);
        let wanted: Vec<Wanted> = self.look_up(&asked, &visible);
        let by_words = self.by_words(&wanted);
        let by_meaning = self.stored.documents.cosines(&self.direction(&wanted));
        let by_sentence = sentences.map(|sentences| sentences.asked(query)).unwrap_or_default();
        let nearness = |all: &[f32], document: usize| all.get(document).copied().unwrap_or_default();
        let mut best = Best::default();
        let mut hits: Vec<Hit> = Vec::new();
        for (document, score) in by_words.into_iter().enumerate().filter(|(document, _)| visible.has(*document)) {
            let (own, sentence) = (score + nearness(&by_meaning, document), nearness(&by_sentence, document));
            best = Best { own: best.own.max(own), sentence: best.sentence.max(sentence) };
            hits.push(Hit { document, score: own + SENTENCE_SHARE * sentence });
        }
        if !self.has_relevant(best, &wanted, &visible) {
            return Vec::new();
        }
        self.add_servers(&mut hits);
        hits.retain(|hit| hit.score > 0.0);
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.document.cmp(&other.document)));
        hits.truncate(limit);
        hits
    }

    /// Adds to each score a share of the mean over its server's visible functions.
    fn add_servers(&self, hits: &mut [Hit]) {
        let server = |hit: &Hit| self.stored.servers.get(hit.document).map_or(0, |first| *first as usize);
        let mut sums = vec![(0.0_f32, 0.0_f32); self.len()];
        for hit in hits.iter() {
            if let Some((sum, count)) = sums.get_mut(server(hit)) {
                *sum += hit.score;
                *count += 1.0;
            }
        }
        for hit in hits {
            let (sum, count) = sums.get(server(hit)).copied().unwrap_or_default();
            hit.score += SERVER_SHARE * sum / count.max(1.0);
        }
    }

    /// Returns the word score of each document: 1 would be all words of the query with full weight.
    fn by_words(&self, wanted: &[Wanted]) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.len()];
        let mut best = vec![0.0_f32; self.len()];
        for wanted in wanted {
            // A word counts once per document, by its best match: otherwise a word with many synonyms would count many
            // times.
            for found in &wanted.matches {
                let worth = found.strength * found.rarity;
                for posting in self.stored.terms.get(found.term).into_iter().flat_map(|term| &term.postings) {
                    if let Some(best) = best.get_mut(posting.document as usize) {
                        *best = best.max(worth * posting.weight());
                    }
                }
            }
            for (score, best) in scores.iter_mut().zip(&mut best) {
                *score += std::mem::take(best);
            }
        }
        let all: f32 = wanted.iter().map(|wanted| wanted.rarity).sum();
        scores.iter_mut().for_each(|score| *score /= all.max(f32::MIN_POSITIVE));
        scores
    }

    /// Returns the vector of the query as a whole.
    fn direction(&self, wanted: &[Wanted]) -> Vec<f32> {
        let mut sum = vec![0.0; self.table.dimensions()];
        for wanted in wanted {
            let mut one = Vectors::new(self.table.dimensions());
            one.push(&wanted.vector);
            one.add_to(&mut sum, 0, wanted.rarity * wanted.weight);
        }
        sum
    }
}

/// Returns the distinct words of a query without stop words; with them, if there are no others.
fn asked(query: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words(query, MAX_QUERY_CHARACTERS) {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    let says_something = |word: &&String| is_searchable(word) && !is_stop_word(word);
    let mut asked: Vec<String> = all.iter().filter(says_something).cloned().collect();
    if asked.is_empty() {
        asked = all;
    }
    asked.truncate(MAX_QUERY_WORDS);
    asked
}
