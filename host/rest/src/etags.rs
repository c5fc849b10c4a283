//! Entity tags in the headers of conditional requests.

use crate::problem::Problem;
use http::HeaderMap;
use http::header::{HeaderName, IF_MATCH};

/// Entity tags of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ETags {
    /// `*`: anything that exists.
    Any,
    /// Texts between the quotes, at least one.
    Listed(Vec<String>),
}

impl ETags {
    /// Reads `If-Match` or `If-None-Match`; `None` if the request does not have it.
    pub(crate) fn read(headers: &HeaderMap, name: &HeaderName) -> Result<Option<ETags>, Problem> {
        let shown = if *name == IF_MATCH { "If-Match" } else { "If-None-Match" };
        let wrong = || Problem::header(shown, "expected `*`, or ETags such as `\"0123…\"`");
        let mut listed = Vec::new();
        let mut is_any = false;
        for value in headers.get_all(name) {
            let text = value.to_str().map_err(|_| wrong())?;
            for part in text.split(',').map(str::trim) {
                match part {
                    "*" => is_any = true,
                    part => listed.push(tag(part).ok_or_else(wrong)?),
                }
            }
        }
        match (is_any, listed.is_empty()) {
            (false, true) => Ok(None),
            (false, false) => Ok(Some(ETags::Listed(listed))),
            (true, true) => Ok(Some(ETags::Any)),
            (true, false) => Err(wrong()),
        }
    }

    /// Returns true if something that exists has one of these tags.
    pub(crate) fn has(&self, tag: &str) -> bool {
        match self {
            ETags::Any => true,
            ETags::Listed(listed) => listed.iter().any(|one| one == tag),
        }
    }
}

/// Returns the text of an entity tag. Proxies that compress make tags weak, so that these count as their strong ones.
fn tag(text: &str) -> Option<String> {
    let quoted = text.strip_prefix("W/").unwrap_or(text);
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
    Some(inner).filter(|inner| !inner.contains('"')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::ETags;
    use http::HeaderMap;
    use http::header::{IF_MATCH, IF_NONE_MATCH};

    fn read(values: &[&str]) -> Result<Option<ETags>, crate::problem::Problem> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IF_MATCH, value.parse().unwrap());
        }
        ETags::read(&headers, &IF_MATCH)
    }

    #[test]
    fn a_header_is_a_star_or_a_list_of_tags() {
        assert_eq!(read(&[]).unwrap(), None);
        assert_eq!(read(&["*"]).unwrap(), Some(ETags::Any));
        let listed = read(&["\"a\", W/\"b\"", "\"c\""]).unwrap().unwrap();
        assert_eq!(listed, ETags::Listed(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
        assert!(listed.has("b") && !listed.has("d") && ETags::Any.has("d"));
        for wrong in [&[""][..], &["  "], &["a"], &["\"a"], &["\"a\"b\""], &["\"a\","], &["*", "\"a\""]] {
            let problem = serde_json::to_value(read(wrong).unwrap_err()).unwrap();
            assert_eq!(problem["errors"][0]["header"], "If-Match", "{wrong:?}");
        }
    }

    #[test]
    fn other_headers_do_not_count() {
        let mut headers = HeaderMap::new();
        headers.insert(IF_MATCH, "\"a\"".parse().unwrap());
        assert_eq!(ETags::read(&headers, &IF_NONE_MATCH).unwrap(), None);
    }
}
