//! Layer of the subscriber of a process.

use tracing_subscriber::Registry;
use tracing_subscriber::layer::Layer;

/// Layer of the subscriber.
pub type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;
