//! Directions in the space of meanings, a byte to a dimension.

use serde::{Deserialize, Serialize};

/// The largest value: eight products of two such fit into 16 bits.
const LARGEST: f32 = 63.0;
const LANES: usize = 16;
const BLOCK: usize = 8;

/// Several vectors of the same number of dimensions. Only their directions count, so each has a scale of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Vectors {
    dimensions: usize,
    values: Vec<i8>,
    /// One over the length of each vector; zero for a vector without direction.
    inverse_lengths: Vec<f32>,
}

impl Vectors {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self { dimensions, values: Vec::new(), inverse_lengths: Vec::new() }
    }

    /// Adds a vector, rounded.
    pub(crate) fn push(&mut self, vector: &[f32]) {
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { LARGEST / largest } else { 0.0 };
        // Within the bounds of a byte by the choice of the scale; the cast would saturate.
        #[expect(clippy::cast_possible_truncation, reason = "scaled to the range of a byte")]
        self.values.extend(vector.iter().map(|value| (value * scale).round() as i8));
        let start = self.values.len() - vector.len();
        self.inverse_lengths.push(self.values.get(start..).map_or(0.0, inverse_length));
    }

    /// Adds others of as many dimensions.
    pub(crate) fn append(&mut self, others: &Self) {
        self.values.extend(&others.values);
        self.inverse_lengths.extend(&others.inverse_lengths);
    }

    pub(crate) fn len(&self) -> usize {
        self.inverse_lengths.len()
    }

    /// Whether every vector has all its dimensions, as it must when read from somewhere.
    pub(crate) fn is_whole(&self, dimensions: usize) -> bool {
        self.dimensions == dimensions && self.len().checked_mul(dimensions) == Some(self.values.len())
    }

    /// The lengths again, from the values alone: what was read cannot claim others.
    pub(crate) fn measure(&mut self) {
        self.inverse_lengths = self.values.chunks_exact(self.dimensions.max(1)).map(inverse_length).collect();
    }

    /// The cosine of the angle between one of these and one of others.
    pub(crate) fn cosine(&self, at: usize, others: &Self, other: usize) -> f32 {
        let (Some(one), Some(two)) = (self.row(at), others.row(other)) else { return 0.0 };
        let length = |vectors: &Self, at: usize| vectors.inverse_lengths.get(at).copied().unwrap_or_default();
        dot(one, two) * length(self, at) * length(others, other)
    }

    /// The unit vector there, added so many times to a sum.
    pub(crate) fn add_to(&self, sum: &mut [f32], at: usize, times: f32) {
        let scale = times * self.inverse_lengths.get(at).copied().unwrap_or_default();
        for (sum, value) in sum.iter_mut().zip(self.row(at).unwrap_or_default()) {
            *sum += scale * f32::from(*value);
        }
    }

    fn row(&self, at: usize) -> Option<&[i8]> {
        let start = at.checked_mul(self.dimensions)?;
        self.values.get(start..start.checked_add(self.dimensions)?)
    }
}

/// One over the length of a vector of bytes, or zero if it has none.
pub(crate) fn inverse_length(vector: &[i8]) -> f32 {
    let square = dot(vector, vector);
    if square > 0.0 { square.sqrt().recip() } else { 0.0 }
}

/// A query does this for every word that is known, so it is written for the compiler to make vector instructions of it: sixteen lanes
/// of 16 bits, which hold a sum of eight products each.
fn dot(one: &[i8], other: &[i8]) -> f32 {
    // Values from damaged bytes may be too large: then the result is wrong, but it is one.
    let product = |one: i8, other: i8| i16::from(one).wrapping_mul(i16::from(other));
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks::<LANES>(), other.as_chunks::<LANES>());
    let mut sum: i32 = one_rest.iter().zip(other_rest).map(|(one, other)| i32::from(product(*one, *other))).sum();
    for (one, other) in one.chunks(BLOCK).zip(other.chunks(BLOCK)) {
        let mut lanes = [0_i16; LANES];
        for (one, other) in one.iter().zip(other) {
            for ((lane, one), other) in lanes.iter_mut().zip(one).zip(other) {
                *lane = lane.wrapping_add(product(*one, *other));
            }
        }
        sum += lanes.iter().copied().map(i32::from).sum::<i32>();
    }
    // At most some millions, which a float holds exactly.
    #[expect(clippy::cast_precision_loss, reason = "small integers")]
    let sum = sum as f32;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_survive_the_rounding() {
        let mut vectors = Vectors::new(3);
        vectors.push(&[1.0, 2.0, 3.0]);
        vectors.push(&[-2.0, 1.0, 0.0]);
        vectors.push(&[0.01, 0.02, 0.03]);
        vectors.push(&[0.0; 3]);
        assert!((vectors.cosine(0, &vectors, 2) - 1.0).abs() < 0.02, "scale does not count");
        assert!(vectors.cosine(0, &vectors, 1).abs() < 0.02);
        assert!(vectors.cosine(0, &vectors, 3).abs() < f32::EPSILON, "no direction is like no other");
        assert!(vectors.cosine(0, &vectors, 9).abs() < f32::EPSILON);
    }

    #[test]
    fn no_sum_overflows() {
        let mut vectors = Vectors::new(300);
        vectors.push(&[1.0; 300]);
        vectors.push(&[-1.0; 300]);
        assert!((vectors.cosine(0, &vectors, 0) - 1.0).abs() < 0.001);
        assert!((vectors.cosine(0, &vectors, 1) + 1.0).abs() < 0.001);
    }
}
