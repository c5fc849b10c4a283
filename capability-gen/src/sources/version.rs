//! Semantic versions, as WIT packages require them.

/// Returns true for a semantic version (semver.org): `1.0.0`, `2.1.0-beta.1+build`.
pub(super) fn is_semantic(version: &str) -> bool {
    let (version, build) = split(version, '+');
    let (core, pre_release) = split(version, '-');
    let mut numbers = 0;
    let is_core = core.split('.').inspect(|_| numbers += 1).all(is_number);
    let has_identifiers = |part: Option<&str>, allow_zeros: bool| {
        part.is_none_or(|part| {
            part.split('.').all(|identifier| {
                let is_numeric = identifier.bytes().all(|byte| byte.is_ascii_digit());
                !identifier.is_empty()
                    && identifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                    && (allow_zeros || !is_numeric || is_number(identifier))
            })
        })
    };
    is_core && numbers == 3 && has_identifiers(pre_release, false) && has_identifiers(build, true)
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn is_number(text: &str) -> bool {
    let is_plain = text == "0" || !text.starts_with('0');
    is_plain && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_semantic;

    #[test]
    fn semantic_versions_are_recognised() {
        for version in ["0.0.0", "1.0.0", "10.20.30", "1.0.0-beta.1", "1.0.0-0a", "1.0.0+001", "1.0.0-a+b.c"] {
            assert!(is_semantic(version), "{version}");
        }
        let others = ["", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.x", "v1.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "1..0"];
        for version in others.into_iter().chain(["99999999999999999999.0.0", "1.0.0-ä", "+1.0.0", "1.0.0-a..b"]) {
            assert!(!is_semantic(version), "{version}");
        }
    }
}
