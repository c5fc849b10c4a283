//! Test vectors of the standards, and invalid inputs.

use crate::Answer;
use agent_spaces_types::json_memory::Allowance;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use proptest::prelude::*;
use serde_json::{Value, json};

fn call(function: &str, params: Value) -> Answer {
    super::call(function, params, &mut Allowance(u64::MAX))
}

fn text(function: &str, params: Value) -> String {
    call(function, params).expect("an answer").as_str().expect("text").to_owned()
}

fn bytes(function: &str, params: Value) -> Vec<u8> {
    BASE64_STANDARD.decode(text(function, params)).expect("base64")
}

/// Checks that a call is refused as invalid, and that the message says so much.
fn refused(function: &str, params: Value, why: &str) {
    let error = call(function, params).expect_err(why);
    assert_eq!((error.code.as_str(), error.retryable), ("call.invalid", false), "{error}");
    assert!(error.message.contains(why), "{error}");
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

fn unhex(text: &str) -> Vec<u8> {
    bytes("decode", json!({ "encoding": "hex", "text": text }))
}

#[test]
fn hashes_match_fips_180_and_blake3() {
    let long = "a".repeat(1_000_000);
    for (algorithm, input, expected) in [
        ("sha256", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("sha256", &long, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        (
            "sha384",
            "abc",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            "sha512",
            "abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        ("blake3", "", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
        ("blake3", "abc", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
    ] {
        assert_eq!(text("hash", json!({ "algorithm": algorithm, "text": input })), expected);
        assert_eq!(text("hashBytes", json!({ "algorithm": algorithm, "bytes": base64(input) })), expected);
    }
    let utf8 = json!({ "algorithm": "sha256", "bytes": base64([0xc3, 0xbc]) });
    assert_eq!(text("hash", json!({ "algorithm": "sha256", "text": "ü" })), text("hashBytes", utf8));
}

#[test]
fn hmacs_match_rfc_4231() {
    let larger = ([0xaa; 131].to_vec(), "Test Using Larger Than Block-Size Key - Hash Key First");
    let short = ([0x0b; 20].to_vec(), "Hi There");
    let named = (b"Jefe".to_vec(), "what do ya want for nothing?");
    for (algorithm, (key, input), expected) in [
        ("sha256", &short, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        ("sha256", &named, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        ("sha256", &larger, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        (
            "sha384",
            &short,
            "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6",
        ),
        (
            "sha384",
            &larger,
            "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952",
        ),
        (
            "sha512",
            &named,
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
             9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        ),
        (
            "sha512",
            &larger,
            "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352\
             6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
        ),
    ] {
        assert_eq!(text("hmac", json!({ "algorithm": algorithm, "key": base64(key), "text": input })), expected);
    }
}

#[test]
fn decryption_matches_published_vectors() {
    // Test cases 1, 3, 13 and 15 of the proposal of GCM to NIST: those without further data.
    let plain = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                 1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
    let key = "feffe9928665731c6d6a8f9467308308";
    let nonce = "cafebabefacedbaddecaf888";
    for (key, nonce, plain, sealed, tag) in [
        ("00".repeat(16), "00".repeat(12), "", "", "58e2fccefa7e3061367f1d57a4e7455a"),
        (
            key.to_owned(),
            nonce.to_owned(),
            plain,
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
             21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
            "4d5c2af327cd64a62cf35abd2ba6fab4",
        ),
        ("00".repeat(32), "00".repeat(12), "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
        (
            key.repeat(2),
            nonce.to_owned(),
            plain,
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
             8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
            "b094dac5d93471bdec1a502270e3cc6c",
        ),
    ] {
        let sealed = unhex(&format!("{nonce}{sealed}{tag}"));
        let params = json!({ "key": base64(unhex(&key)), "sealed": base64(sealed) });
        assert_eq!(bytes("decrypt", params), unhex(plain));
    }
}

#[test]
fn encryption_round_trips_with_fresh_nonces() {
    for length in [16, 32] {
        let key = base64(vec![7; length]);
        let seal = || bytes("encrypt", json!({ "key": key, "plain": base64("Grüße") }));
        let (one, other) = (seal(), seal());
        assert_ne!(one, other);
        assert_eq!(one.len(), 12 + "Grüße".len() + 16);
        for sealed in [one, other] {
            assert_eq!(bytes("decrypt", json!({ "key": key, "sealed": base64(sealed) })), "Grüße".as_bytes());
        }
    }
}

#[test]
fn inauthentic_ciphertexts_are_refused_with_one_message() {
    let sealed = bytes("encrypt", json!({ "key": base64([7; 32]), "plain": base64("secret") }));
    let decrypt = |key: &[u8], sealed: &[u8]| call("decrypt", json!({ "key": base64(key), "sealed": base64(sealed) }));
    let expected = decrypt(&[7; 32], b"").expect_err("too short");
    assert_eq!(expected.code, "call.failed");
    assert_eq!(expected.message, "sealed was changed, or was not encrypted under this key");
    for place in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        assert_eq!(decrypt(&[7; 32], &changed), Err(expected.clone()), "byte {place}");
        assert_eq!(decrypt(&[7; 32], &sealed[..place]), Err(expected.clone()), "{place} bytes");
        assert_eq!(decrypt(&[7; 32], &sealed[place + 1..]), Err(expected.clone()), "from byte {place}");
    }
    assert_eq!(decrypt(&[7; 32], &[&sealed[..], &[0]].concat()), Err(expected.clone()));
    assert_eq!(decrypt(&[8; 32], &sealed), Err(expected.clone()));
    assert_eq!(decrypt(&[7; 16], &sealed), Err(expected));
    assert!(decrypt(&[7; 32], &sealed).is_ok());
}

#[test]
fn keys_of_other_lengths_are_refused() {
    for length in [0, 15, 17, 24, 31, 33] {
        let why = format!("key must have 16 or 32 bytes, not {length}");
        refused("encrypt", json!({ "key": base64(vec![0; length]), "plain": "" }), &why);
        refused("decrypt", json!({ "key": base64(vec![0; length]), "sealed": "" }), &why);
    }
}

#[test]
fn random_bytes_have_the_requested_length_up_to_a_limit() {
    for count in [0, 1, 32, 65_536] {
        assert_eq!(bytes("randomBytes", json!({ "count": count })).len(), count);
    }
    assert_ne!(bytes("randomBytes", json!({ "count": 32 })), bytes("randomBytes", json!({ "count": 32 })));
    refused("randomBytes", json!({ "count": 65_537 }), "count must be at most 65536, not 65537");
    refused("randomBytes", json!({ "count": 1_u64 << 32 }), "count");
    refused("randomBytes", json!({ "count": -1 }), "count");
    refused("randomBytes", json!({ "count": 1.5 }), "count");
}

#[test]
fn a_uuid_has_version_and_variant_and_is_unique() {
    let uuids: std::collections::BTreeSet<_> = (0..100).map(|_| text("uuid", json!({}))).collect();
    assert_eq!(uuids.len(), 100);
    for uuid in uuids {
        let lengths: Vec<_> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
        assert!(uuid.chars().all(|digit| digit == '-' || digit.is_ascii_hexdigit() && !digit.is_ascii_uppercase()));
        assert_eq!(uuid.as_bytes()[14], b'4', "{uuid}");
        assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
    }
}

#[test]
fn encodings_match_rfc_4648() {
    for (plain, hex, base64_text, base64url) in [
        ("", "", "", ""),
        ("f", "66", "Zg==", "Zg"),
        ("fo", "666f", "Zm8=", "Zm8"),
        ("foo", "666f6f", "Zm9v", "Zm9v"),
        ("foob", "666f6f62", "Zm9vYg==", "Zm9vYg"),
        ("fooba", "666f6f6261", "Zm9vYmE=", "Zm9vYmE"),
        ("foobar", "666f6f626172", "Zm9vYmFy", "Zm9vYmFy"),
    ] {
        for (encoding, expected) in [("hex", hex), ("base64", base64_text), ("base64url", base64url)] {
            let params = json!({ "encoding": encoding, "bytes": base64(plain) });
            assert_eq!(text("encode", params), expected);
            let params = json!({ "encoding": encoding, "text": expected });
            assert_eq!(bytes("decode", params), plain.as_bytes());
        }
    }
    let params = |encoding| json!({ "encoding": encoding, "bytes": base64([0xfb, 0xff]) });
    assert_eq!((text("encode", params("base64")), text("encode", params("base64url"))), ("+/8=".into(), "-_8".into()));
}

#[test]
fn padding_is_optional_and_hex_may_be_upper_case() {
    for (encoding, input, expected) in [
        ("base64", "Zg", "f"),
        ("base64", "Zg=", "f"),
        ("base64", "Zm8", "fo"),
        ("base64url", "Zg==", "f"),
        ("hex", "4A4b", "JK"),
    ] {
        assert_eq!(bytes("decode", json!({ "encoding": encoding, "text": input })), expected.as_bytes());
    }
}

#[test]
fn text_in_another_encoding_is_refused_with_its_position() {
    for (encoding, input, why) in [
        ("hex", "4", "odd number of digits"),
        ("hex", "4g", "character 2 is not a hex digit"),
        ("hex", "ü4", "character 1 is not a hex digit"),
        ("hex", "0x41", "character 2 is not a hex digit"),
        ("base64", "Zg===", "is invalid"),
        ("base64", "Zm9v====", "is invalid"),
        ("base64", "Z", "a character is missing"),
        ("base64", "Zh==", "last character is invalid"),
        ("base64", "Zm9v\n", "character 5 is invalid"),
        ("base64", "-_8=", "character 1 is one of base64url"),
        ("base64url", "Zm+/", "character 3 is one of base64"),
        ("base64", "Zg==Zg==", "is invalid"),
    ] {
        refused("decode", json!({ "encoding": encoding, "text": input }), why);
    }
}

#[test]
fn wrong_parameters_are_refused_by_name() {
    refused(
        "hash",
        json!({ "algorithm": "md5", "text": "" }),
        "algorithm must be one of sha256, sha384, sha512, blake3",
    );
    refused("hmac", json!({ "algorithm": "blake3", "key": "", "text": "" }), "algorithm must be one of sha256");
    refused("hash", json!({ "algorithm": "sha256" }), "text is missing");
    refused("hashBytes", json!({ "algorithm": "sha256", "bytes": "%" }), "bytes must be bytes, in base64");
    refused("encode", json!({ "encoding": "base32", "bytes": "" }), "encoding must be one of hex, base64, base64url");
    refused("uuid", json!({ "version": 7 }), "version is not known");
    refused("sign", json!({}), "There is no function crypto.sign");
}

proptest! {
    #[test]
    fn decoding_never_panics_and_encoding_round_trips(
        input in any::<Vec<u8>>(), any_text in ".{0,40}",
    ) {
        for encoding in ["hex", "base64", "base64url"] {
            if let Err(error) = call("decode", json!({ "encoding": encoding, "text": any_text })) {
                prop_assert_eq!(error.code, "call.invalid");
            }
            let encoded = text("encode", json!({ "encoding": encoding, "bytes": base64(&input) }));
            prop_assert_eq!(&bytes("decode", json!({ "encoding": encoding, "text": encoded })), &input);
        }
    }
}
