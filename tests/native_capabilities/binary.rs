//! Binary parameters: bytes for schemas with base64.

use super::{script, space};
use agent_spaces::{Capability, CapabilityError};
use agent_spaces_tests::value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Upload {
    #[schemars(extend("contentEncoding" = "base64"))]
    data: String,
    #[schemars(extend("format" = "byte"))]
    more: Option<String>,
    name: String,
}

fn store() -> Capability {
    Capability::new("store").function(
        "put",
        "Keeps a file",
        |file: Upload| async move { Ok::<_, CapabilityError>(file) },
    )
}

#[tokio::test]
async fn bytes_are_accepted_only_for_base64() {
    let space = space([store()]);
    let body = "const bytes = new Uint8Array([1, 2, 3]);
        export default [
            await store.put({ data: bytes, more: bytes.buffer, name: 'a' }),
            await store.put({ data: 'AQID', name: 'b' }),
            (await attempt(() => store.put({ data: 'AQID', name: bytes }))).message,
        ]";
    let seen = value(&space, &script("store", body)).await;
    assert_eq!((&seen[0]["data"], &seen[0]["more"]), (&json!("AQID"), &json!("AQID")), "{seen}");
    assert_eq!((&seen[1]["data"], &seen[1]["more"]), (&json!("AQID"), &json!(null)), "{seen}");
    assert!(seen[2].as_str().is_some_and(|said| said.contains("name: expected a string")), "{seen}");
}

#[test]
fn declarations_allow_bytes_only_for_parameters() {
    let declarations = store().declarations().unwrap();
    assert!(declarations.contains("data: string | Uint8Array"), "{declarations}");
    assert!(declarations.contains("more?: string | null | Uint8Array"), "{declarations}");
    assert!(declarations.contains("data: string;"), "{declarations}");
}
