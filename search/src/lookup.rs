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
    /// Whether it is none as it was written, and what it was meant to be is there.
    is_mistaken: bool,
    /// Whether the first match is the word itself.
    is_exact: bool,
}

impl Wanted {
    /// The term that is the word itself, if there is one.
    pub(crate) fn exact(&self) -> Option<usize> {
        self.matches.first().filter(|_| self.is_exact).map(|exact| exact.term)
    }
}

/// A term, how well it matches (up to 1) and how rare it is.
pub(crate) struct Match {
    pub(crate) term: usize,
    pub(crate) strength: f32,
    pub(crate) rarity: f32,
}

impl Index {
    /// Looks words up: as they are or else with mistakes in them, and by what is near in meaning. Only what stands in visible
    /// documents is found, so that an answer is the same as if there were no others.
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
        let tolerated = typo::tolerated(letters.len());
        if tolerated == 0 {
            return Vec::new();
        }
        let set = typo::letters(word);
        let distance = |term: &Term| {
            let other: Vec<char> = term.word.chars().collect();
            let mistakes = typo::distance(&letters, &other, tolerated)?;
            Some(mistakes + usize::from(letters.first() != other.first()))
        };
        let possible = self.stored.terms.iter().zip(&self.letters).enumerate();
        possible
            .filter(|(_, (_, letters))| typo::is_possible(set, **letters, tolerated))
            .filter_map(|(at, (term, _))| Some((at, distance(term)?)))
            .filter_map(|(at, mistakes)| self.found(at, MISTAKE.powi(i32::try_from(mistakes).ok()?), visible))
            .collect()
    }

    /// The terms that are near to each of these directions, nearest first.
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
