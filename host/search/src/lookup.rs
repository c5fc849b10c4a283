//! Matching of query words with terms of the index.

use crate::edit_distance;
use crate::index::{Index, Term};
use crate::stem::stem;
use crate::vectors::Vectors;
use crate::visible::Visible;

/// Similar words: minimum cosine similarity, weight of the most similar one, and their number.
const NEAR: f32 = 0.2;
const NEAR_STRENGTH: f32 = 0.8;
const MOST_NEAR: usize = 30;
/// Factor on the strength of a match for each typo, and for a wrong first letter, which is rarely a typo.
const MISTAKE: f32 = 0.8;

/// Word of a query, with its matches.
pub(crate) struct Wanted {
    /// Terms that it matches.
    pub(crate) matches: Vec<Match>,
    /// Inverse document frequency: rare words count more.
    pub(crate) rarity: f32,
    /// Weight in general language, from the table.
    pub(crate) weight: f32,
    /// Its word vector.
    pub(crate) vector: Vec<f32>,
    /// True if it is not a word, and a term matches it with typos.
    is_mistaken: bool,
    /// True if the first match is the word itself.
    is_exact: bool,
}

impl Wanted {
    /// Returns the term that is the word itself, if there is one.
    pub(crate) fn exact(&self) -> Option<usize> {
        self.matches.first().filter(|_| self.is_exact).map(|exact| exact.term)
    }
}

/// Matching term, the strength of the match (up to 1) and its rarity.
pub(crate) struct Match {
    pub(crate) term: usize,
    pub(crate) strength: f32,
    pub(crate) rarity: f32,
}

impl Index {
    /// Looks words up: exactly, or else with typos, and by similar meaning. Only terms of visible documents match, so the
    /// results are the same as without the others.
    pub(crate) fn look_up(&self, words: &[String], visible: &Visible) -> Vec<Wanted> {
        let mut wanted: Vec<Wanted> = words.iter().map(|word| self.by_spelling(word, visible)).collect();
        let mut right: Vec<&mut Wanted> = wanted.iter_mut().filter(|wanted| !wanted.is_mistaken).collect();
        let near = self.near(right.iter().map(|wanted| wanted.vector.as_slice()));
        for (wanted, near) in right.iter_mut().zip(near) {
            let taken = wanted.matches.first().map(|exact| exact.term);
            let strength = |cosine: f32| NEAR_STRENGTH * (cosine - NEAR) / (1.0 - NEAR);
            let found = near.into_iter().filter_map(|(term, cosine)| self.found(term, strength(cosine), visible));
            wanted.matches.extend(found.take(MOST_NEAR).filter(|near| Some(near.term) != taken));
        }
        wanted
    }

    fn by_spelling(&self, word: &str, visible: &Visible) -> Wanted {
        let exact = self.exact(word, visible);
        let mut matches: Vec<Match> = exact.into_iter().collect();
        if matches.is_empty() && !self.table.has_word(word) {
            matches = self.mistaken(word, visible);
            if let Some(best) = best(&matches) {
                let meant = self.stored.terms.get(best.term).map_or(word, |term| term.word.as_str());
                let meaning = self.table.meaning(meant);
                let (rarity, weight, vector) = (best.rarity, meaning.weight, meaning.vector);
                return Wanted { matches, rarity, weight, vector, is_mistaken: true, is_exact: false };
            }
        }
        let rarity = matches.first().map_or_else(|| visible.unknown_rarity(), |exact| exact.rarity);
        let meaning = self.table.meaning(word);
        let is_exact = !matches.is_empty();
        Wanted { matches, rarity, weight: meaning.weight, vector: meaning.vector, is_mistaken: false, is_exact }
    }

    fn exact(&self, word: &str, visible: &Visible) -> Option<Match> {
        let stem = stem(word);
        let at = self.stored.terms.binary_search_by(|term| term.stem.as_str().cmp(&stem)).ok()?;
        self.found(at, 1.0, visible)
    }

    fn mistaken(&self, word: &str, visible: &Visible) -> Vec<Match> {
        let letters: Vec<char> = word.chars().collect();
        let tolerated = edit_distance::tolerated(letters.len());
        if tolerated == 0 {
            return Vec::new();
        }
        let set = edit_distance::letters(word);
        let distance = |term: &Term| {
            let other: Vec<char> = term.word.chars().collect();
            let mistakes = edit_distance::distance(&letters, &other, tolerated)?;
            Some(mistakes + usize::from(letters.first() != other.first()))
        };
        let possible = self.stored.terms.iter().zip(&self.letters).enumerate();
        possible
            .filter(|(_, (_, letters))| edit_distance::is_possible(set, **letters, tolerated))
            .filter_map(|(at, (term, _))| Some((at, distance(term)?)))
            .filter_map(|(at, mistakes)| self.found(at, MISTAKE.powi(i32::try_from(mistakes).ok()?), visible))
            .collect()
    }

    /// Returns the terms most similar to each vector, most similar first.
    fn near<'a>(&self, directions: impl Iterator<Item = &'a [f32]>) -> Vec<Vec<(usize, f32)>> {
        let mut asked = Vectors::new(self.table.dimensions());
        directions.for_each(|direction| asked.push(direction));
        let mut near: Vec<Vec<(usize, f32)>> = vec![Vec::new(); asked.len()];
        self.meanings.compare(&asked, |term, number, cosine| {
            if cosine > NEAR
                && let Some(near) = near.get_mut(number)
            {
                near.push((term, cosine));
            }
        });
        for near in &mut near {
            near.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        }
        near
    }

    /// Returns a match, if a visible document has the term.
    fn found(&self, term: usize, strength: f32, visible: &Visible) -> Option<Match> {
        let rarity = visible.rarity(&self.stored.terms.get(term)?.postings)?;
        Some(Match { term, strength, rarity })
    }
}

fn best(matches: &[Match]) -> Option<&Match> {
    // The first of equals: `max_by` would return the last.
    matches.iter().reduce(|best, next| if next.strength > best.strength { next } else { best })
}
