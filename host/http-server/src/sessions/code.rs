//! Signed text of cookies and links: `v1.IDENTITY.EXPIRY.NONCE.MAC`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const VERSION: &str = "v1";

/// Maximum length of a code: the name of a caller is in it.
const MAX_CODE: usize = 2048;

/// Difference of clocks, in seconds, that a code from another machine may have.
const MAX_SKEW: u64 = 60;

/// Key of the codes of one caller.
pub(super) type Key = [u8; 32];

/// Use of a code: one for links is none for sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Value of a cookie.
    Session,
    /// Link that signs in once.
    Link,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Purpose::Session => "session",
            Purpose::Link => "link",
        }
    }

    /// Seconds for which a code is valid: a working day; the time to open a browser.
    pub(super) fn lifetime(self) -> u64 {
        match self {
            Purpose::Session => 12 * 60 * 60,
            Purpose::Link => 2 * 60,
        }
    }
}

/// Creates a code that is valid from `now`, in seconds since 1970.
pub(super) fn mint(purpose: Purpose, key: &Key, identity: &str, now: u64) -> std::io::Result<String> {
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce).map_err(std::io::Error::other)?;
    let expiry = now.saturating_add(purpose.lifetime());
    let (identity, nonce) = (URL_SAFE_NO_PAD.encode(identity), URL_SAFE_NO_PAD.encode(nonce));
    let signed = format!("{VERSION}.{identity}.{expiry}.{nonce}");
    let mac = URL_SAFE_NO_PAD.encode(mac(purpose, key, &signed).as_bytes());
    Ok(format!("{signed}.{mac}"))
}

fn mac(purpose: Purpose, key: &Key, signed: &str) -> blake3::Hash {
    // Neither part can have a line feed, so that the text has one reading.
    blake3::keyed_hash(key, format!("{}\n{signed}", purpose.name()).as_bytes())
}

/// Code that was received.
pub(super) struct Code<'a> {
    /// All of it but its MAC.
    signed: &'a str,
    pub(super) identity: String,
    pub(super) expiry: u64,
    pub(super) mac: [u8; 32],
}

impl<'a> Code<'a> {
    /// Parses a code, which nobody has verified yet.
    pub(super) fn parse(text: &'a str) -> Option<Code<'a>> {
        if text.len() > MAX_CODE {
            return None;
        }
        let (signed, mac) = text.rsplit_once('.')?;
        let parts: Vec<&str> = signed.split('.').collect();
        let [VERSION, identity, expiry, _nonce] = parts[..] else { return None };
        let identity = String::from_utf8(URL_SAFE_NO_PAD.decode(identity).ok()?).ok()?;
        let mac = <[u8; 32]>::try_from(URL_SAFE_NO_PAD.decode(mac).ok()?).ok()?;
        Some(Code { signed, identity, expiry: expiry.parse().ok()?, mac })
    }

    /// Returns true if it was signed with this key for this purpose. The comparison takes constant time.
    pub(super) fn is_signed(&self, purpose: Purpose, key: &Key) -> bool {
        blake3::Hash::from_bytes(self.mac) == mac(purpose, key, self.signed)
    }

    /// Returns true if it has not expired. One that is valid for longer than its purpose allows is refused too: spent codes
    /// are remembered until they expire.
    pub(super) fn is_current(&self, purpose: Purpose, now: u64) -> bool {
        let latest = now.saturating_add(purpose.lifetime()).saturating_add(MAX_SKEW);
        now < self.expiry && self.expiry <= latest
    }

    /// Returns true if it was made at this time or later.
    pub(super) fn is_made_since(&self, purpose: Purpose, time: u64) -> bool {
        self.expiry >= time.saturating_add(purpose.lifetime())
    }
}

#[cfg(test)]
mod tests {
    use crate::sessions::code::*;

    const NOW: u64 = 1_800_000_000;
    const KEY: Key = [7; 32];

    fn is_valid(text: &str, purpose: Purpose, key: &Key, now: u64) -> bool {
        Code::parse(text).is_some_and(|code| code.is_signed(purpose, key) && code.is_current(purpose, now))
    }

    #[test]
    fn a_code_is_valid_for_its_key_purpose_and_time_alone() {
        let code = mint(Purpose::Link, &KEY, "caller ann", NOW).unwrap();
        assert_eq!(Code::parse(&code).unwrap().identity, "caller ann");
        assert!(is_valid(&code, Purpose::Link, &KEY, NOW) && is_valid(&code, Purpose::Link, &KEY, NOW + 119));
        assert!(!is_valid(&code, Purpose::Link, &KEY, NOW + 120), "expired");
        assert!(!is_valid(&code, Purpose::Link, &KEY, NOW - 61), "of the future");
        assert!(!is_valid(&code, Purpose::Session, &KEY, NOW), "a link is no cookie");
        assert!(!is_valid(&code, Purpose::Link, &[8; 32], NOW), "another key");
        assert_ne!(code, mint(Purpose::Link, &KEY, "caller ann", NOW).unwrap());
    }

    #[test]
    fn a_changed_code_is_not_valid() {
        let code = mint(Purpose::Session, &KEY, "caller ann", NOW).unwrap();
        assert!(is_valid(&code, Purpose::Session, &KEY, NOW));
        for index in 0..code.len() {
            let changed: String = code
                .char_indices()
                .map(|(at, own)| {
                    if at != index {
                        own
                    } else if own == 'A' {
                        'Q'
                    } else {
                        'A'
                    }
                })
                .collect();
            assert!(!is_valid(&changed, Purpose::Session, &KEY, NOW), "{changed}");
        }
        let bob = URL_SAFE_NO_PAD.encode("caller bob");
        let other = code.replacen(&URL_SAFE_NO_PAD.encode("caller ann"), &bob, 1);
        assert!(other.contains(&bob) && !is_valid(&other, Purpose::Session, &KEY, NOW));
        for odd in ["", ".", "v1....", "v1.YQ.1.YQ", &format!("{code}.x"), &format!("v2{}", &code[2..])] {
            assert!(!is_valid(odd, Purpose::Session, &KEY, NOW), "{odd}");
        }
        assert!(Code::parse(&format!("{code}{}", "A".repeat(MAX_CODE))).is_none());
    }
}
