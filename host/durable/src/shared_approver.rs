//! Public key of the approver token, in the store for all hosts.
//!
//! It is sealed with the key of hosts: whoever can only write to the store cannot put another there. They can remove it, or
//! put an earlier one back.

use crate::host_key::HostKey;
use agent_spaces_approvals::ApproverKey;
use agent_spaces_journal::{Expected, NewDocument, Store, StoreError};
use serde::{Deserialize, Serialize};

/// Kind and id of the document.
const KIND: &str = "approver";
const ID: &str = "key";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sealed {
    public_key: String,
    seal: String,
}

/// Stores the public key, instead of an earlier one.
pub async fn publish(store: &dyn Store, host_key: &HostKey, key: &ApproverKey) -> Result<(), StoreError> {
    let public_key = key.text();
    let sealed = Sealed { seal: host_key.seal(KIND, &public_key), public_key };
    let body = serde_json::to_string(&sealed).map_err(|error| StoreError::Io(error.to_string()))?;
    let new = NewDocument { kind: KIND.to_owned(), id: ID.to_owned(), body, ..NewDocument::default() };
    store.put_document(new, Expected::Any).await.map(drop)
}

/// Returns the public key that hosts share; `None` if there is none, or none that a host sealed.
pub async fn load(store: &dyn Store, host_key: &HostKey) -> Option<ApproverKey> {
    let document = store.document(KIND, ID).await.ok()??;
    let sealed: Sealed = serde_json::from_str(&document.body).ok()?;
    let is_ours = host_key.is_seal(&sealed.seal, KIND, &sealed.public_key);
    is_ours.then(|| ApproverKey::parse(&sealed.public_key)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{ID, KIND, load, publish};
    use crate::host_key::HostKey;
    use agent_spaces_approvals::ApproverToken;
    use agent_spaces_journal::{Expected, NewDocument, Settings, SqliteStore, Store};

    #[tokio::test]
    async fn a_key_counts_on_all_hosts_that_have_the_secret() {
        let folder = tempfile::tempdir().unwrap();
        let open = || SqliteStore::open(&folder.path().join("journal"), Settings::default()).unwrap();
        let (here, there) = (open(), open());
        let secret = HostKey::parse(&"s".repeat(40)).unwrap();
        assert_eq!(load(&there, &secret).await, None);
        for _ in 0..2 {
            let key = ApproverToken::new().unwrap().key();
            publish(&here, &secret, &key).await.unwrap();
            assert_eq!(load(&there, &secret).await, Some(key));
        }
        assert_eq!(load(&there, &HostKey::parse(&"t".repeat(40)).unwrap()).await, None);
    }

    /// By somebody who can write to the store.
    #[tokio::test]
    async fn a_forged_key_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("journal"), Settings::default()).unwrap();
        let secret = HostKey::parse(&"s".repeat(40)).unwrap();
        publish(&store, &secret, &ApproverToken::new().unwrap().key()).await.unwrap();
        let body = store.document(KIND, ID).await.unwrap().unwrap().body;
        let known: serde_json::Value = serde_json::from_str(&body).unwrap();
        let thief = ApproverToken::new().unwrap().key().text();
        let own = HostKey::parse(&"t".repeat(40)).unwrap().seal(KIND, &thief);
        for body in [
            body.replace(known["publicKey"].as_str().unwrap(), &thief),
            serde_json::json!({ "publicKey": thief, "seal": own }).to_string(),
            serde_json::json!({ "publicKey": thief, "seal": "" }).to_string(),
            "{}".to_owned(),
            String::new(),
        ] {
            let new = NewDocument { kind: KIND.into(), id: ID.into(), body, ..NewDocument::default() };
            store.put_document(new, Expected::Any).await.unwrap();
            assert_eq!(load(&store, &secret).await, None);
        }
    }
}
