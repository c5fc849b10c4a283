//! What is read into a schema beside what it says: defaults that are filled in, and slips of the pen.

mod filled;
mod slips;

use capability_gen::definition::Place;

fn place() -> Place {
    Place { file: "tools.json".to_owned(), path: "$.parameters".to_owned() }
}
