use super::*;
use rmcp::transport::auth::{AuthorizationMetadata, CredentialStore, StoredCredentials};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const URL: &str = "https://example.com/mcp";

fn credentials(token: &str) -> StoredCredentials {
    let response = json!({
        "access_token": token, "token_type": "bearer", "expires_in": 3600, "refresh_token": format!("refresh-{token}"),
        "id_token": "is not kept",
    });
    let response = serde_json::from_value(response).unwrap();
    StoredCredentials::new("client".into(), Some(response), vec!["read".into()], Some(1_000_000))
}

fn record(name: &str, url: &str, token: &str) -> Record {
    Record {
        name: name.into(),
        url: url.into(),
        grant: Grant::Person,
        resource: url.into(),
        metadata: AuthorizationMetadata::default(),
        is_private: false,
        client_id: "client".into(),
        client_secret: None,
        asked: vec!["read".into()],
        required: Vec::new(),
        credentials: Some(essential(credentials(token))),
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn the_file_is_owner_only_and_has_no_more_than_needed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state/tokens.json");
    let store = TokenStore::in_file(file.clone());
    assert_eq!(store.list().unwrap(), []);
    assert!(!file.exists(), "reading makes no file");
    store.put(record("slack", URL, "token-one")).await.unwrap();
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert!(!std::fs::read_to_string(&file).unwrap().contains("is not kept"));
    let login = store.list().unwrap().remove(0);
    assert_eq!((login.name.as_str(), login.url.as_str(), login.renews), ("slack", URL, true));
    assert_eq!(login.scopes, ["read"]);
    assert_eq!(login.expires, Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_003_600)));
    assert!(!format!("{store:?} {login:?}").contains("token-one"));
}

#[tokio::test]
async fn a_changed_url_does_not_get_the_token_of_the_old_one() {
    let store = TokenStore::default();
    store.put(record("slack", URL, "token-one")).await.unwrap();
    let redactor = Redactor::default();
    assert!(store.get("slack", URL, &redactor).unwrap().is_some());
    assert!(store.get("slack", "https://evil.example/mcp", &redactor).unwrap().is_none());
    assert!(store.get("other", URL, &redactor).unwrap().is_none());
}

#[tokio::test]
async fn files_readable_by_others_are_refused_with_the_chmod_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.json");
    let store = TokenStore::in_file(file.clone());
    store.put(record("slack", URL, "token-one")).await.unwrap();
    for open in [0o640, 0o604, 0o620] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(open)).unwrap();
        let message = store.list().unwrap_err().to_string();
        assert!(message.contains(&format!("run `chmod 600 '{}'`", file.display())), "{message}");
        assert!(store.put(record("other", URL, "token-two")).await.is_err(), "nothing is written either");
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
}

#[test]
fn a_file_of_another_user_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = folder.path().join("tokens.json");
    if rustix::process::geteuid().is_root() {
        std::fs::write(&file, "{\"version\":1,\"logins\":[]}").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::chown(&file, Some(12345), None).unwrap();
    } else {
        // The superuser's.
        file = "/etc/passwd".into();
    }
    assert!(matches!(TokenStore::in_file(file).list(), Err(TokenStoreError::NotOurs { .. })));
}

/// A link may lead to a file that somebody else prepared.
#[tokio::test]
async fn a_link_is_neither_read_nor_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("tokens.json"), folder.path().join("link.json"));
    TokenStore::in_file(file.clone()).put(record("slack", URL, "token-one")).await.unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let store = TokenStore::in_file(link.clone());
    assert!(matches!(store.list(), Err(TokenStoreError::NotFile { .. })));
    assert!(matches!(store.put(record("other", URL, "token-two")).await, Err(TokenStoreError::NotFile { .. })));
    assert!(link.is_symlink());
}

#[test]
fn other_files_are_refused_without_quoting_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.json");
    let store = TokenStore::in_file(file.clone());
    for text in ["{\"version\":1,\"logins\":\"sekrit-token\"}", "{\"version\":2,\"logins\":[]}", "sekrit-token", ""] {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let message = store.list().unwrap_err().to_string();
        assert!(message.contains("not a token file") && !message.contains("sekrit"), "{message}");
    }
    let pipe = TokenStore::in_file("/dev/null".into());
    assert!(matches!(pipe.list(), Err(TokenStoreError::NotFile { .. })));
}

#[tokio::test]
async fn a_logout_is_not_undone_by_a_token_refresh() {
    let store = TokenStore::default();
    store.put(record("slack", URL, "token-one")).await.unwrap();
    let entry = store.entry("slack", URL, &Redactor::default());
    assert!(store.remove("slack").await.unwrap());
    assert!(!store.remove("slack").await.unwrap());
    entry.save(credentials("token-two")).await.unwrap();
    assert!(entry.load().await.unwrap().is_none());
    assert_eq!(store.list().unwrap(), []);
}

#[tokio::test]
async fn revoked_tokens_are_removed_unless_they_were_replaced() {
    let store = TokenStore::default();
    store.put(record("slack", URL, "token-one")).await.unwrap();
    let entry = store.entry("slack", URL, &Redactor::default());
    entry.on_refresh_token_rejected(&credentials("token-old")).await.unwrap();
    assert!(entry.load().await.unwrap().is_some());
    entry.on_refresh_token_rejected(&credentials("token-one")).await.unwrap();
    assert!(entry.load().await.unwrap().is_none());
    let kept = store.get("slack", URL, &Redactor::default()).unwrap().unwrap();
    assert_eq!(kept.asked, ["read"], "what was asked for is still known");
}

#[tokio::test]
async fn logins_that_are_too_large_or_too_short_are_not_stored() {
    let store = TokenStore::default();
    let large = record("slack", URL, &"x".repeat(MAX_LOGIN));
    assert!(matches!(store.put(large).await, Err(TokenStoreError::LoginTooLarge)));
    assert!(matches!(store.put(record("slack", URL, "short")).await, Err(TokenStoreError::ShortSecret)));
    assert_eq!(store.list().unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.json");
    let writers: Vec<_> = (0..20)
        .map(|number| {
            // One store per task, as separate processes would have.
            let store = TokenStore::in_file(file.clone());
            tokio::spawn(async move { store.put(record(&format!("server-{number}"), URL, "token-one")).await })
        })
        .collect();
    let reader = TokenStore::in_file(file.clone());
    for writer in writers {
        reader.list().unwrap();
        writer.await.unwrap().unwrap();
    }
    assert_eq!(reader.list().unwrap().len(), 20);
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["tokens.json", "tokens.json.lock"], "no temporary file is left");
}

#[tokio::test]
async fn a_login_is_refreshed_by_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let stores = [0, 1].map(|_| TokenStore::in_file(folder.path().join("tokens.json")));
    let guard = stores[0].refresh_guard("slack", URL).await.unwrap();
    let soon = Duration::from_millis(200);
    assert!(tokio::time::timeout(soon, stores[1].refresh_guard("slack", URL)).await.is_err());
    drop(stores[1].refresh_guard("other", URL).await.unwrap());
    stores[1].put(record("slack", URL, "token-one")).await.unwrap();
    drop(guard);
    drop(stores[1].refresh_guard("slack", URL).await.unwrap());
    let memory = TokenStore::default();
    let guard = memory.refresh_guard("slack", URL).await.unwrap();
    assert!(tokio::time::timeout(soon, memory.refresh_guard("slack", URL)).await.is_err());
    drop(guard);
}
