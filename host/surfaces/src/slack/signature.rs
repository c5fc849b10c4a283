//! Signatures of Slack's requests over HTTP.

use agent_spaces_secrets::Secret;
use data_encoding::HEXLOWER;
use ring::hmac;

/// Seconds by which the time of a request may differ from ours. An older request may be a replay.
const MAX_AGE: u64 = 5 * 60;

/// Checks the signature of a request: `v0=` and the HMAC-SHA-256 of `v0:TIMESTAMP:BODY`. `now` is in seconds since the
/// Unix epoch.
pub(super) fn is_valid(secret: &Secret, timestamp: &str, signature: &str, body: &[u8], now: u64) -> bool {
    let Ok(sent) = timestamp.parse::<u64>() else { return false };
    if sent.abs_diff(now) > MAX_AGE {
        return false;
    }
    let Some(code) = signature.strip_prefix("v0=") else { return false };
    // Upper case is refused: a repeated request is known by its signature, which must have one spelling.
    let Ok(code) = HEXLOWER.decode(code.as_bytes()) else { return false };
    let mut signed = format!("v0:{timestamp}:").into_bytes();
    signed.extend_from_slice(body);
    // Compares in constant time.
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes()), &signed, &code).is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_valid;
    use agent_spaces_secrets::Secret;
    use data_encoding::HEXLOWER;
    use ring::hmac;

    const NOW: u64 = 1_800_000_000;

    fn sign(timestamp: &str, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"secret");
        format!("v0={}", HEXLOWER.encode(hmac::sign(&key, format!("v0:{timestamp}:{body}").as_bytes()).as_ref()))
    }

    #[test]
    fn a_request_counts_with_its_signature_and_in_time() {
        let secret = Secret::new("secret");
        let (time, body) = (NOW.to_string(), "command=%2Fagent&text=hi");
        let valid = sign(&time, body);
        assert!(is_valid(&secret, &time, &valid, body.as_bytes(), NOW));
        assert!(is_valid(&secret, &time, &valid, body.as_bytes(), NOW + 299));
        // Replayed later, with another body, another time, another secret, or none.
        assert!(!is_valid(&secret, &time, &valid, body.as_bytes(), NOW + 301));
        assert!(!is_valid(&secret, &time, &valid, b"command=%2Fagent&text=ho", NOW));
        assert!(!is_valid(&secret, &(NOW + 1).to_string(), &valid, body.as_bytes(), NOW));
        assert!(!is_valid(&Secret::new("other"), &time, &valid, body.as_bytes(), NOW));
        let upper = format!("v0={}", valid[3..].to_uppercase());
        for wrong in ["", "v0=", "v0=zz", "v1=00", &valid[..20], upper.as_str()] {
            assert!(!is_valid(&secret, &time, wrong, body.as_bytes(), NOW), "{wrong}");
        }
        assert!(!is_valid(&secret, "soon", &sign("soon", body), body.as_bytes(), NOW));
    }
}
