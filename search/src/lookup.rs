//! Which words of the documents a word of a query stands for.

use crate::index::{Index, Term};
use crate::stem::stem;
use crate::typo;
use crate::vectors::Vectors;
use crate::visible::Visible;

/// How near a word must be to stand for another, how much the nearest counts, and how many count at all.
const NEAR: f32 = 0.2;
const NEAR_STRENGTH: f32 = 0.8;
const MOST_NEAR: usize = 30;
/// What each mistake in writing leaves of a match, and what a wrong first letter does, which people rarely get wrong.
const MISTAKE: f32 = 0.8;

/// A word of a query, and what it was found to mean.
pub(crate) struct Wanted {
    /// Terms that it may stand for.
    pub(crate) matches: Vec<Match>,
    /// How much it says: rare words say more.
    pub(crate) rarity: f32,
    /// How much it says anywhere, by the table.
    pub(crate) weight: f32,
    /// Its direction.
    pub(crate) vector: Vec<f32>,
}

/// A term, how well it matches (up to 1) and how rare it is.
pub(crate) struct Match {
    pub(crate) term: usize,
    pub(crate) strength: f32,
    pub(crate) rarity: f32,
}

impl Index {
    /// Looks a word up: as it is, else with mistakes in it, else by what is near in meaning. Only what stands in visible
    /// documents is found, so that an answer is the same as if there were no others.
    pub(crate) fn look_up(&self, word: &str, visible: &Visible) -> Wanted {
        let exact = self.exact(word, visible);
        let mut matches: Vec<Match> = exact.into_iter().collect();
        if matches.is_empty() && !self.table.has_word(word) {
            matches = self.mistaken(word, visible);
            if let Some(best) = best(&matches) {
                let meant = self.stored.terms.get(best.term).map_or(word, |term| term.word.as_str());
                let meaning = self.table.meaning(meant);
                return Wanted { rarity: best.rarity, weight: meaning.weight, vector: meaning.vector, matches };
            }
        }
        let rarity = matches.first().map_or_else(|| visible.unknown_rarity(), |exact| exact.rarity);
        let meaning = self.table.meaning(word);
        let taken = matches.first().map(|exact| exact.term);
        matches.extend(self.near(&meaning.vector, visible).into_iter().filter(|near| Some(near.term) != taken));
        Wanted { matches, rarity, weight: meaning.weight, vector: meaning.vector }
    }

    fn exact(&self, word: &str, visible: &Visible) -> Option<Match> {
        let stem = stem(word);
        let at = self.stored.terms.binary_search_by(|term| term.stem.as_str().cmp(&stem)).ok()?;
        self.found(at, 1.0, visible)
    }

    fn mistaken(&self, word: &str, visible: &Visible) -> Vec<Match> {
        let letters: Vec<char> = word.chars().collect();
        let tolerated = typo::tolerated(letters.len());
        if tolerated == 0 {
            return Vec::new();
        }
        let set = typo::letters(word);
        let distance = |term: &Term| {
            if !typo::is_possible(set, typo::letters(&term.word), tolerated) {
                return None;
            }
            let other: Vec<char> = term.word.chars().collect();
            let mistakes = typo::distance(&letters, &other, tolerated)?;
            Some(mistakes + usize::from(letters.first() != other.first()))
        };
        let strengths = self.stored.terms.iter().enumerate().filter_map(|(at, term)| Some((at, distance(term)?)));
        strengths
            .filter_map(|(at, mistakes)| self.found(at, MISTAKE.powi(i32::try_from(mistakes).ok()?), visible))
            .collect()
    }

    fn near(&self, vector: &[f32], visible: &Visible) -> Vec<Match> {
        let mut asked = Vectors::new(self.table.dimensions());
        asked.push(vector);
        let mut near: Vec<(usize, f32)> = (0..self.stored.terms.len())
            .map(|term| (term, self.meanings.cosine(term, &asked, 0)))
            .filter(|(_, cosine)| *cosine > NEAR)
            .collect();
        near.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let strength = |cosine: f32| NEAR_STRENGTH * (cosine - NEAR) / (1.0 - NEAR);
        let found = near.into_iter().filter_map(|(term, cosine)| self.found(term, strength(cosine), visible));
        found.take(MOST_NEAR).collect()
    }

    /// A match, if the term stands in a document that is visible.
    fn found(&self, term: usize, strength: f32, visible: &Visible) -> Option<Match> {
        let rarity = visible.rarity(&self.stored.terms.get(term)?.postings)?;
        Some(Match { term, strength, rarity })
    }
}

fn best(matches: &[Match]) -> Option<&Match> {
    // The first of equals: `max_by` would give the last.
    matches.iter().reduce(|best, next| if next.strength > best.strength { next } else { best })
}
