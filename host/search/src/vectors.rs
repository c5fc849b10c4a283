//! Quantized vectors, one byte per dimension, and cosine similarity.

use serde::{Deserialize, Serialize};

/// Largest quantized value. Sums of products of such small values are exact as a float.
const LARGEST: f32 = 63.0;
/// Number of products in one unrolled block.
const BLOCK: usize = 32;

/// Vectors of the same dimension. Only directions matter, so each is quantized with its own scale.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Vectors {
    dimensions: usize,
    values: Vec<i8>,
    /// Inverse length of each vector; zero for the zero vector.
    inverse_lengths: Vec<f32>,
}

impl Vectors {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self { dimensions, values: Vec::new(), inverse_lengths: Vec::new() }
    }

    /// Appends a vector, quantized.
    pub(crate) fn push(&mut self, vector: &[f32]) {
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { LARGEST / largest } else { 0.0 };
        // The scale keeps values in the range of a byte; the cast would saturate.
        #[expect(clippy::cast_possible_truncation, reason = "scaled to the range of a byte")]
        self.values.extend(vector.iter().map(|value| (value * scale).round() as i8));
        let start = self.values.len() - vector.len();
        self.inverse_lengths.push(self.values.get(start..).map_or(0.0, inverse_length));
    }

    /// Appends vectors of the same dimension.
    pub(crate) fn append(&mut self, others: &Self) {
        self.values.extend(&others.values);
        self.inverse_lengths.extend(&others.inverse_lengths);
    }

    pub(crate) fn len(&self) -> usize {
        self.inverse_lengths.len()
    }

    /// Returns true if every vector has all its dimensions. To be checked after deserialization.
    pub(crate) fn is_whole(&self, dimensions: usize) -> bool {
        self.dimensions == dimensions && self.len().checked_mul(dimensions) == Some(self.values.len())
    }

    /// Recomputes the lengths from the values, so that deserialized ones cannot lie.
    pub(crate) fn measure(&mut self) {
        self.inverse_lengths = self.values.chunks_exact(self.dimensions.max(1)).map(inverse_length).collect();
    }

    /// Passes the cosine similarity of each of these with each of `others` to `tell`: first all others for the first of
    /// these.
    ///
    /// A query does this for the whole vocabulary. So all its words are compared in one scan, and bytes are widened
    /// once and not for each product, which would cost more than the product.
    pub(crate) fn compare(&self, others: &Self, mut tell: impl FnMut(usize, usize, f32)) {
        let dimensions = self.dimensions.max(1);
        let wide: Vec<i16> = others.values.iter().copied().map(i16::from).collect();
        let mut row = Vec::with_capacity(dimensions);
        for (at, (values, length)) in self.values.chunks_exact(dimensions).zip(&self.inverse_lengths).enumerate() {
            row.clear();
            row.extend(values.iter().copied().map(i16::from));
            for (other, (values, other_length)) in
                wide.chunks_exact(dimensions).zip(&others.inverse_lengths).enumerate()
            {
                tell(at, other, dot(&row, values) * length * other_length);
            }
        }
    }

    /// Returns the cosine similarity of each vector to one vector.
    pub(crate) fn cosines(&self, vector: &[f32]) -> Vec<f32> {
        let mut asked = Self::new(self.dimensions);
        asked.push(vector);
        let mut cosines = Vec::with_capacity(self.len());
        self.compare(&asked, |_, _, cosine| cosines.push(cosine));
        cosines
    }

    /// Adds a unit vector to a sum, scaled by `times`.
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

/// Returns the inverse length of a vector, or zero for the zero vector.
pub(crate) fn inverse_length(vector: &[i8]) -> f32 {
    let wide: Vec<i16> = vector.iter().copied().map(i16::from).collect();
    let square = dot(&wide, &wide);
    if square > 0.0 { square.sqrt().recip() } else { 0.0 }
}

/// Returns the dot product. In blocks of a fixed size, because the compiler vectorizes those to multiply-add
/// instructions of eight values; a plain loop is slower.
fn dot(one: &[i16], other: &[i16]) -> f32 {
    fn products(one: &[i16], other: &[i16]) -> i32 {
        one.iter().zip(other).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
    }
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks::<BLOCK>(), other.as_chunks::<BLOCK>());
    let blocks: i32 = one.iter().zip(other).map(|(one, other)| products(one, other)).sum();
    // At most some millions, which a float holds exactly.
    #[expect(clippy::cast_precision_loss, reason = "small integers")]
    let sum = (blocks + products(one_rest, other_rest)) as f32;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(vectors: &Vectors, one: usize, other: usize) -> f32 {
        let mut found = None;
        vectors.compare(vectors, |at, against, cosine| {
            if (at, against) == (one, other) {
                found = Some(cosine);
            }
        });
        found.unwrap()
    }

    #[test]
    fn cosines_survive_quantization() {
        let mut vectors = Vectors::new(3);
        vectors.push(&[1.0, 2.0, 3.0]);
        vectors.push(&[-2.0, 1.0, 0.0]);
        vectors.push(&[0.01, 0.02, 0.03]);
        vectors.push(&[0.0; 3]);
        assert!((cosine(&vectors, 0, 2) - 1.0).abs() < 0.02, "scale does not count");
        assert!(cosine(&vectors, 0, 1).abs() < 0.02);
        assert!(cosine(&vectors, 0, 3).abs() < f32::EPSILON, "no direction is like no other");
        let all = vectors.cosines(&[1.0, 2.0, 3.0]);
        assert!(all.len() == 4 && all[0] > 0.98 && all[1].abs() < 0.02, "{all:?}");
    }

    #[test]
    fn no_sum_overflows() {
        let mut vectors = Vectors::new(300);
        vectors.push(&[1.0; 300]);
        vectors.push(&[-1.0; 300]);
        assert!((cosine(&vectors, 0, 0) - 1.0).abs() < 0.001);
        assert!((cosine(&vectors, 0, 1) + 1.0).abs() < 0.001);
    }
}
