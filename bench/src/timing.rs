//! Times of something done again and again.

use std::time::Instant;

/// Quantiles in microseconds.
pub(crate) struct Times {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// Runs something `count` times after a warm-up of a tenth of that.
pub(crate) async fn times<F: Future>(count: usize, mut work: impl FnMut() -> F) -> Times {
    for _ in 0..count / 10 {
        work().await;
    }
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        work().await;
        samples.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    samples.sort_by(f64::total_cmp);
    Times { p50: samples[count / 2], p99: samples[count * 99 / 100] }
}
