//! BERT with mean pooling over all tokens.

use super::config::Config;
use super::error::ModelError;
use super::files::Tensors;
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

/// Weights of the model. All dimensions match: they were checked against one [`Config`].
pub(super) struct Bert {
    words: Array2<f32>,
    /// Position embeddings, with the token type embedding of the first sentence added.
    places: Array2<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    joined: Linear,
    joined_norm: Norm,
    wide: Linear,
    narrow: Linear,
    norm: Norm,
}

/// Linear layer: a matrix of `outputs` rows, and the bias.
struct Linear {
    weights: Array2<f32>,
    bias: Array1<f32>,
}

/// Layer normalization.
struct Norm {
    weights: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Bert {
    pub(super) fn read(tensors: &mut Tensors, shape: &Config) -> Result<Self, ModelError> {
        let width = shape.width;
        let mut table =
            |name: &str, rows| matrix(tensors, &format!("embeddings.{name}_embeddings.weight"), [rows, width]);
        let words = table("word", shape.words)?;
        let mut places = table("position", shape.positions)?;
        places += &table("token_type", shape.kinds)?.row(0);
        let norm = Norm::read(tensors, "embeddings.LayerNorm", shape)?;
        let layers = (0..shape.layers).map(|number| Layer::read(tensors, number, shape)).collect::<Result<_, _>>()?;
        Ok(Self { words, places, norm, layers, heads: shape.heads })
    }

    /// Checks that all tensors of [`Bert::read`] are present, without reading them.
    pub(super) fn check(tensors: &Tensors, shape: &Config) -> Result<(), ModelError> {
        let (width, inner) = (shape.width, shape.inner);
        let has = |name: &str, shape: &[usize]| tensors.find(name, shape).map(drop);
        let pair = |name: &str, shape: &[usize]| {
            has(&format!("{name}.weight"), shape)?;
            has(&format!("{name}.bias"), shape.get(..1).unwrap_or_default())
        };
        for (name, rows) in [("word", shape.words), ("position", shape.positions), ("token_type", shape.kinds)] {
            has(&format!("embeddings.{name}_embeddings.weight"), &[rows, width])?;
        }
        pair("embeddings.LayerNorm", &[width])?;
        for number in 0..shape.layers {
            let pair = |part: &str, shape: &[usize]| pair(&format!("encoder.layer.{number}.{part}"), shape);
            for part in ["self.query", "self.key", "self.value", "output.dense"] {
                pair(&format!("attention.{part}"), &[width, width])?;
            }
            pair("attention.output.LayerNorm", &[width])?;
            pair("intermediate.dense", &[inner, width])?;
            pair("output.dense", &[width, inner])?;
            pair("output.LayerNorm", &[width])?;
        }
        Ok(())
    }

    /// Returns the maximum number of tokens.
    pub(super) fn places(&self) -> usize {
        self.places.nrows()
    }

    /// Returns the mean of the token embeddings. There must not be more tokens than positions.
    pub(super) fn mean(&self, pieces: &[usize]) -> Vec<f32> {
        let mut rows = self.words.select(Axis(0), pieces);
        rows += &self.places.slice(s![..pieces.len(), ..]);
        self.norm.apply(&mut rows);
        for layer in &self.layers {
            rows += &layer.attend(&rows, self.heads);
            layer.joined_norm.apply(&mut rows);
            let mut inner = layer.wide.apply(&rows);
            inner.mapv_inplace(gelu);
            rows += &layer.narrow.apply(&inner);
            layer.norm.apply(&mut rows);
        }
        // There is at least the `[CLS]` token.
        rows.sum_axis(Axis(0)).to_vec()
    }
}

impl Layer {
    fn read(tensors: &mut Tensors, number: usize, shape: &Config) -> Result<Self, ModelError> {
        let (width, inner) = (shape.width, shape.inner);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Self {
            query: Linear::read(tensors, &name("attention.self.query"), [width, width])?,
            key: Linear::read(tensors, &name("attention.self.key"), [width, width])?,
            value: Linear::read(tensors, &name("attention.self.value"), [width, width])?,
            joined: Linear::read(tensors, &name("attention.output.dense"), [width, width])?,
            joined_norm: Norm::read(tensors, &name("attention.output.LayerNorm"), shape)?,
            wide: Linear::read(tensors, &name("intermediate.dense"), [inner, width])?,
            narrow: Linear::read(tensors, &name("output.dense"), [width, inner])?,
            norm: Norm::read(tensors, &name("output.LayerNorm"), shape)?,
        })
    }

    /// Multi-head self-attention.
    fn attend(&self, rows: &Array2<f32>, heads: usize) -> Array2<f32> {
        let (query, key, value) = (self.query.apply(rows), self.key.apply(rows), self.value.apply(rows));
        let part = rows.ncols() / heads;
        // The width is at most some thousands.
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let scale = (part as f32).sqrt().recip();
        let mut joined = Array2::zeros(rows.raw_dim());
        for head in 0..heads {
            let own = s![.., head * part..(head + 1) * part];
            let mut looks = query.slice(own).dot(&key.slice(own).t()) * scale;
            looks.rows_mut().into_iter().for_each(|mut row| {
                let largest = row.fold(f32::NEG_INFINITY, |largest, value| largest.max(*value));
                row.mapv_inplace(|value| (value - largest).exp());
                row /= row.sum();
            });
            joined.slice_mut(own).assign(&looks.dot(&value.slice(own)));
        }
        self.joined.apply(&joined)
    }
}

impl Linear {
    fn read(tensors: &mut Tensors, name: &str, shape: [usize; 2]) -> Result<Self, ModelError> {
        let weights = matrix(tensors, &format!("{name}.weight"), shape)?;
        Ok(Self { weights, bias: tensors.take(&format!("{name}.bias"), &[shape[0]])?.into() })
    }

    fn apply(&self, rows: &Array2<f32>) -> Array2<f32> {
        rows.dot(&self.weights.t()) + &self.bias
    }
}

impl Norm {
    fn read(tensors: &mut Tensors, name: &str, shape: &Config) -> Result<Self, ModelError> {
        let mut take = |part: &str| tensors.take(&format!("{name}.{part}"), &[shape.width]);
        Ok(Self { weights: take("weight")?.into(), bias: take("bias")?.into(), epsilon: shape.epsilon })
    }

    fn apply(&self, rows: &mut Array2<f32>) {
        for mut row in rows.rows_mut() {
            let mean = mean(row.view());
            row -= mean;
            let square = mean_of_squares(row.view());
            row *= (square + self.epsilon).sqrt().recip();
            row *= &self.weights;
            row += &self.bias;
        }
    }
}

fn mean(row: ArrayView1<'_, f32>) -> f32 {
    row.mean().unwrap_or_default()
}

fn mean_of_squares(row: ArrayView1<'_, f32>) -> f32 {
    mean((&row * &row).view())
}

fn matrix(tensors: &mut Tensors, name: &str, shape: [usize; 2]) -> Result<Array2<f32>, ModelError> {
    let numbers = tensors.take(name, &shape)?;
    // Cannot fail: the number of values matches the shape.
    Ok(Array2::from_shape_vec(shape, numbers).unwrap_or_default())
}

/// GELU: `x · P(X < x)`. The approximation of the error function (Abramowitz and Stegun 7.1.26) is off by less than 2e-7.
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = (1.0 + 0.327_591_1 * z).recip();
    let series = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    0.5 * x * (1.0 + (1.0 - series * (-z * z).exp()).copysign(x))
}
