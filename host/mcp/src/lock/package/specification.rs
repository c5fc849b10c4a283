//! Package specifications: `@scope/name@1.2.3`, `name[extra]==1.2`, `image:tag@sha256:…`.

use super::{Manager, Package};

/// Parses an npm package or a URL that npm downloads one from.
pub(super) fn npm(word: &str) -> Option<Package> {
    if is_local(word) {
        return None;
    }
    let is_remote = word.contains(':') && !word.starts_with('@') && !word.contains("@npm:");
    if is_remote || (word.contains('/') && !word.starts_with('@')) {
        let (name, version) = word.split_once('#').map_or((word, None), |(name, version)| (name, Some(version)));
        return package(Manager::Npm, name, version, is_commit);
    }
    let (name, version) = split_version(word);
    package(Manager::Npm, name, version, is_exact)
}

/// Parses `npm:name@1.2.3/program` or `jsr:@scope/name@1.2.3`.
pub(super) fn deno(word: &str) -> Option<Package> {
    let (manager, path) = match word.split_once(':')? {
        ("npm", path) => (Manager::Npm, path),
        ("jsr", path) => (Manager::Jsr, path),
        _ => return None,
    };
    let path = path.trim_start_matches('/');
    let segments = if path.starts_with('@') { 2 } else { 1 };
    let end = path.match_indices('/').nth(segments - 1).map_or(path.len(), |(place, _)| place);
    let (name, version) = split_version(path.get(..end)?);
    package(manager, name, version, is_exact)
}

/// Parses a Python requirement, `name@version` as uvx accepts it, or a URL.
pub(super) fn python(word: &str) -> Option<Package> {
    let word = word.split(';').next().unwrap_or(word).trim();
    if is_local(word) || word.ends_with(".py") {
        return None;
    }
    if let Some((name, address)) = word.split_once('@').filter(|(_, address)| address.contains("://")) {
        // `name @ git+https://…` has a name before the `@`; `git+https://user@host/…` does not.
        if !name.contains("://") {
            let name = name.split('[').next().unwrap_or(name).trim();
            return package(Manager::Pypi, name, Some(address.trim()), |address| {
                commit_of(address).is_some_and(is_commit)
            });
        }
    }
    if word.contains("://") {
        let address = word.split('#').next().unwrap_or(word);
        let version = commit_of(address);
        let name = version.and_then(|version| address.strip_suffix(version)?.strip_suffix('@')).unwrap_or(address);
        return package(Manager::Pypi, name, version, is_commit);
    }
    let end = word.find(['[', '=', '<', '>', '!', '~', '@', ' ']).unwrap_or(word.len());
    let (name, rest) = word.split_at_checked(end)?;
    let rest = if rest.starts_with('[') { rest.split_once(']')?.1 } else { rest }.trim();
    let exact =
        rest.strip_prefix("==").map(|version| version.trim_start_matches('=')).or_else(|| rest.strip_prefix('@'));
    match exact.map(str::trim) {
        Some(version) => package(Manager::Pypi, name, Some(version), |version| {
            version.starts_with(|letter: char| letter.is_ascii_digit()) && !version.contains(['*', ',', '<', '>'])
        }),
        None => package(Manager::Pypi, name, Some(rest), |_| false),
    }
}

/// Parses a container image.
pub(super) fn image(word: &str) -> Option<Package> {
    let (tagged, digest) = word.split_once('@').map_or((word, None), |(image, digest)| (image, Some(digest)));
    // A colon before the last slash is the port of the registry.
    let last = tagged.rfind('/').map_or(0, |slash| slash + 1);
    let colon = tagged.get(last..)?.find(':').map(|colon| last + colon);
    let (name, tag) = match colon.and_then(|colon| tagged.split_at_checked(colon)) {
        Some((name, tag)) => (name, tag.strip_prefix(':')),
        None => (tagged, None),
    };
    package(Manager::Oci, name, digest.or(tag), is_digest)
}

fn package(manager: Manager, name: &str, version: Option<&str>, is_pinned: impl Fn(&str) -> bool) -> Option<Package> {
    let version = version.filter(|version| !version.is_empty());
    let pinned = version.is_some_and(is_pinned);
    (!name.is_empty()).then(|| Package { manager, name: name.to_owned(), version: version.map(str::to_owned), pinned })
}

/// Splits off the version after `@`; an `@` at the start belongs to the name.
fn split_version(word: &str) -> (&str, Option<&str>) {
    match word.char_indices().skip(1).find(|(_, letter)| *letter == '@') {
        Some((place, _)) => (word.get(..place).unwrap_or(word), word.get(place + 1..)),
        None => (word, None),
    }
}

/// Returns true for a local path, which is not downloaded.
fn is_local(word: &str) -> bool {
    let is_drive = matches!(word.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    is_drive || word.starts_with(['.', '/', '\\', '~']) || word.starts_with("file:")
}

/// Returns true for `1.2.3` with an optional prerelease or build suffix.
fn is_exact(version: &str) -> bool {
    let numbers = version.trim_start_matches(['=', 'v']);
    let numbers = numbers.split(['-', '+']).next().unwrap_or(numbers);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.split('.').count() == 3 && numbers.split('.').all(is_number)
}

/// Returns the part after the last `@` of a URL, if that is after its path.
fn commit_of(address: &str) -> Option<&str> {
    let address = address.split('#').next().unwrap_or(address);
    address.rsplit_once('@').map(|(_, version)| version).filter(|version| !version.contains('/'))
}

fn is_commit(version: &str) -> bool {
    version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_digest(version: &str) -> bool {
    version
        .strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
