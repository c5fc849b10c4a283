//! Serialization of indexes.

use agent_spaces_search::{Document, Index, IndexError};
use proptest::prelude::*;

fn bytes() -> Vec<u8> {
    let names = ["create_issue", "deleteFile", "list flights", "grüße_senden", "照会"];
    let document = |name: &str| Document {
        server: "some".into(),
        name: name.into(),
        description: format!("{name} now"),
        ..Document::default()
    };
    Index::build(&names.map(document)).unwrap().to_bytes()
}

#[test]
fn a_deserialized_index_finds_the_same() {
    let bytes = bytes();
    let index = Index::from_bytes(&bytes).unwrap();
    assert_eq!(index.to_bytes(), bytes);
    assert_eq!(index.search("remove a file", 1, |_| true)[0].document, 1);
    assert_eq!(index.search("grusse", 1, |_| true)[0].document, 3);
    assert_eq!(index.search("照会", 1, |_| true)[0].document, 4);
}

#[test]
fn other_bytes_are_refused() {
    let whole = bytes();
    assert_eq!(Index::from_bytes(b"").err(), Some(IndexError::OtherVersion));
    assert_eq!(Index::from_bytes(b"ASSI\x01 of another table").err(), Some(IndexError::OtherVersion));
    assert_eq!(Index::from_bytes(&whole[..whole.len() - 1]).err(), Some(IndexError::Damaged));
    assert_eq!(Index::from_bytes(&[&whole[..], b"x"].concat()).err(), Some(IndexError::Damaged));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// An error or an index that can be searched; never a panic.
    #[test]
    fn damaged_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>(), is_cut in any::<bool>()) {
        let mut bytes = bytes();
        // The first 13 bytes are the version; the rest has to be validated.
        for (at, value) in changes {
            let at = 13 + at.index(bytes.len() - 13);
            bytes[at] = value;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(index) = Index::from_bytes(&bytes) {
            let hits = index.search("remove a fiel now", 10, |_| true);
            prop_assert!(hits.iter().all(|hit| hit.document < index.len() && hit.score.is_finite()));
        }
    }

    #[test]
    fn any_text_can_be_indexed_and_searched(name in "\\PC{0,40}", description in any::<String>(), query in any::<String>()) {
        let document = Document { name, description, ..Document::default() };
        let index = Index::build(&[document]).unwrap();
        let index = Index::from_bytes(&index.to_bytes()).unwrap();
        prop_assert!(index.search(&query, 5, |_| true).len() <= 1);
    }
}
