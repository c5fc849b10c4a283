//! Definitions in YAML are equivalent to those in JSON.

use capability_gen::definition::Definition;
use capability_gen::sources::{Source, SourceError, parse};

const PETS: &str = "openapi: 3.1.0
info: { title: Pets, version: 2.0.0 }
servers:
  - url: https://pets.example
paths:
  /pets/{petId}:
    get:
      operationId: getPet
      tags: [pets]
      parameters:
        - { name: petId, in: path, required: true, schema: &id { type: string } }
        - { name: after, in: query, schema: *id }
      responses:
        '200':
          content: { application/json: { schema: { type: object, properties: { name: { type: string } } } } }
";

fn read(file: &str, text: &str) -> Result<Vec<Definition>, SourceError> {
    parse(&Source { file, text, name: None, format: None })
}

#[test]
fn an_openapi_document_in_yaml_equals_the_same_in_json() {
    let yaml = read("pets.yaml", PETS).unwrap();
    let bounds = capability_gen::yaml::Bounds { bytes: 1 << 20, depth: 64 };
    let json = read("pets.yaml", &capability_gen::yaml::read(PETS, bounds).unwrap().to_string()).unwrap();
    assert_eq!(yaml, json);
    assert_eq!(
        (yaml[0].functions[0].name.as_str(), &yaml[0].functions[0].tags[..]),
        ("getPet", &["pets".to_owned()][..])
    );
    assert_eq!(read("pets.yml", PETS).unwrap().len(), 1);
}

#[test]
fn a_tool_in_yaml_is_a_tool() {
    let tool =
        read("notes.yaml", "name: notes\nfunctions:\n  create:\n    parameters:\n      title: string\n").unwrap();
    assert_eq!((tool[0].name.as_str(), tool[0].functions.len()), ("notes", 1));
}

#[test]
fn errors_have_their_line() {
    let said = read("pets.yaml", "openapi: 3.1.0\npaths: {\n").unwrap_err().to_string();
    assert!(said.starts_with("pets.yaml: line "), "{said}");
    let said = read("pets.yaml", "name: a\nname: b\n").unwrap_err().to_string();
    assert!(said.starts_with("pets.yaml: line 2, column 1"), "{said}");
    let said = read("pets.yaml", "openapi: 3.1.0").unwrap_err().to_string();
    assert!(said.contains("no \"paths\""), "{said}");
}
