//! Schema reader: filled-in defaults, and lint of likely mistakes.

mod filled;
mod lint;

use capability_gen::definition::Place;

fn place() -> Place {
    Place { file: "tools.json".to_owned(), path: "$.parameters".to_owned() }
}
