//! Figures of several workloads, ours and a peer's, and what sums them up.

/// Milliseconds of each workload, ours and theirs.
#[derive(Default)]
pub(crate) struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    pub(crate) fn push(&mut self, ours: f64, theirs: f64) {
        self.0.push((ours, theirs));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Geometric means; `None` without figures.
    pub(crate) fn mean(&self) -> Option<(f64, f64)> {
        let mean = |of: fn(&(f64, f64)) -> f64| {
            (self.0.iter().map(|pair| of(pair).ln()).sum::<f64>() / self.0.len() as f64).exp()
        };
        (!self.0.is_empty()).then(|| (mean(|pair| pair.0), mean(|pair| pair.1)))
    }

    /// The pair in which ours is slowest beside theirs.
    pub(crate) fn least(&self) -> Option<(f64, f64)> {
        self.0.iter().copied().min_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)))
    }
}

/// `of the kernels`, or of how many if some are missing.
pub(crate) fn of_kernels(measured: usize, all: usize) -> String {
    if measured < all { format!("of {measured} kernels") } else { "of the kernels".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::Pairs;

    #[test]
    fn mean_is_geometric_and_least_is_by_ratio() {
        let mut pairs = Pairs::default();
        assert!(pairs.mean().is_none() && pairs.least().is_none());
        pairs.push(2.0, 1.0);
        pairs.push(8.0, 16.0);
        assert_eq!(pairs.mean(), Some((4.0, 4.0)));
        assert_eq!(pairs.least(), Some((2.0, 1.0)));
    }
}
