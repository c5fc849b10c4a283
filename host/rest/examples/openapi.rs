//! Prints the OpenAPI document, as the server serves it: `just openapi` writes it to `clients/openapi.json`.

fn main() {
    println!("{:#}", agent_spaces_rest::document());
}
