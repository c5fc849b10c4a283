//! Signatures of messages: HMAC-SHA256 over id, time and body, as Standard Webhooks defines them.

use crate::problem::Problem;
use data_encoding::BASE64;
use ring::hmac;

/// Prefix of secrets.
const PREFIX: &str = "whsec_";

/// Random bytes of a secret: the least that Standard Webhooks allows, 192 bits.
const SECRET_BYTES: usize = 24;

/// Generates a secret.
pub(crate) fn new_secret() -> Result<String, Problem> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| Problem::internal(&error))?;
    Ok(format!("{PREFIX}{}", BASE64.encode(&bytes)))
}

/// Returns the signature of a message, for its header; `None` if the secret cannot be read. The time is in seconds since
/// the Unix epoch.
pub(crate) fn sign(secret: &str, id: &str, timestamp: i64, body: &str) -> Option<String> {
    let key = BASE64.decode(secret.strip_prefix(PREFIX)?.as_bytes()).ok()?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
    Some(format!("v1,{}", BASE64.encode(tag.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::{new_secret, sign};

    #[test]
    fn a_message_is_signed_as_the_reference_libraries_do() {
        let signature = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }

    #[test]
    fn secrets_differ_and_can_sign() {
        let (first, second) = (new_secret().unwrap(), new_secret().unwrap());
        assert_ne!(first, second);
        assert_eq!(first.len(), "whsec_".len() + 32);
        assert!(sign(&first, "msg_1", 1, "{}").is_some());
        assert_ne!(sign(&first, "msg_1", 1, "{}"), sign(&second, "msg_1", 1, "{}"));
        assert_eq!((sign("secret", "msg_1", 1, "{}"), sign("whsec_?", "msg_1", 1, "{}")), (None, None));
    }
}
