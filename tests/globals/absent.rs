//! Hints for absent globals and modules.

use agent_spaces_tests::{empty_space, error, value};
use serde_json::json;

/// The hint of a script that ends with an error, be it before its run or in it.
async fn hint(source: &str) -> String {
    let space = empty_space();
    match space.prepare("script.ts", source) {
        Err(refused) => format!("{refused:?}"),
        Ok(_) => error(&space, source).await.hint.unwrap_or_default(),
    }
}

#[tokio::test]
async fn foreign_globals_and_modules_have_hints() {
    for (source, expected) in [
        ("Buffer.from('a')", "Uint8Array"),
        ("process.env.HOME", "no environment"),
        ("require('fs')", "use import"),
        ("fs.readFileSync('a')", "'@agent-spaces/std'"),
        ("import fs from 'node:fs'; fs", "not available here: use a capability that has files"),
        ("import fs from 'fs'; fs", "not available here: use a capability that has files"),
        ("import { readFile } from 'fs/promises'; readFile", "not available here: use a capability that has files"),
        ("import { setTimeout } from 'timers/promises'; setTimeout", "setTimeout(done, 1000)"),
        ("import { setTimeout } from 'node:timers/promises'; setTimeout", "setTimeout(done, 1000)"),
        ("import { createHash } from 'crypto'; createHash", "subtle.digest"),
        ("import { Buffer } from 'node:buffer'; Buffer", "Uint8Array"),
        ("import { env } from 'process'; env", "no environment"),
        ("import { exec } from 'node:child_process'; exec", "cannot start programs"),
        ("new Intl.Segmenter('en')", "code points"),
        ("new Intl.DisplayNames('en', { type: 'region' })", "table"),
    ] {
        let hint = hint(source).await;
        assert!(hint.contains(expected), "{source}: {hint}");
    }
}

#[tokio::test]
async fn subtle_digest_works_and_the_rest_has_hints() {
    let space = empty_space();
    let source = "const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc'));
        const sizes = await Promise.all(['SHA-1', 'sha-384', { name: 'SHA-512' }].map((name) => crypto.subtle.digest(name as any, hash)));
        [new Uint8Array(hash).toHex?.() ?? [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
            ...sizes.map((each) => each.byteLength)]";
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(value(&space, source).await, json!([expected, 20, 48, 64]));
    let ended = error(&space, "await crypto.subtle.sign('HMAC', {} as any, new Uint8Array())").await;
    assert_eq!(ended.name.as_deref(), Some("NotSupportedError"));
    assert!(ended.message.contains("crypto.hmac") && ended.message.contains("@agent-spaces/std"), "{ended:?}");
}
