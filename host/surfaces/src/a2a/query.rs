//! Query of a request, and the version of the protocol.

use super::bounds::MAX_QUERY;
use super::error::{A2aError, ErrorKind};
use serde_json::{Map, Value};

/// Version of the protocol: major and minor number.
const VERSION: &str = "1.0";

/// Header, or parameter of the query, with the version.
pub(super) const VERSION_NAME: &str = "a2a-version";

/// Checks the version of a request: its header, or its parameter of that name.
pub(super) fn check_version(header: Option<&str>, query: &Query) -> Result<(), A2aError> {
    let given = header.or_else(|| query.text_ignoring_case(VERSION_NAME)).unwrap_or_default().trim();
    // The number of a patch means nothing.
    let mut numbers = given.splitn(3, '.');
    let is_known = (numbers.next(), numbers.next()) == (Some("1"), Some("0"));
    if is_known {
        return Ok(());
    }
    let message = format!("This version of A2A is not supported: send the header A2A-Version: {VERSION}");
    Err(A2aError::new(ErrorKind::Version, message))
}

/// Query of a request. Of a parameter that is given twice the first counts.
#[derive(Debug, Default)]
pub(super) struct Query(Map<String, Value>);

impl Query {
    pub(super) fn parse(text: Option<&str>) -> Result<Query, A2aError> {
        let text = text.unwrap_or_default();
        if text.len() > MAX_QUERY {
            return Err(A2aError::new(ErrorKind::TooLarge, format!("The query has more than {MAX_QUERY} bytes")));
        }
        let mut pairs = Map::new();
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            pairs.entry(name.into_owned()).or_insert_with(|| Value::String(value.into_owned()));
        }
        Ok(Query(pairs))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn text_ignoring_case(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.and_then(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, A2aError> {
        let fault = || A2aError::params(name, "Expected a whole number");
        self.text(name).map(|text| text.parse().map_err(|_| fault())).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_a_version_is_one_of_version_0_3() {
        let query = |text| Query::parse(Some(text)).unwrap();
        assert!(check_version(Some("1.0"), &query("")).is_ok() && check_version(Some(" 1.0.1"), &query("")).is_ok());
        assert!(check_version(None, &query("A2A-Version=1.0")).is_ok());
        for wrong in [None, Some(""), Some("0.3"), Some("1.1"), Some("10"), Some("99.0")] {
            assert_eq!(check_version(wrong, &query("")).unwrap_err().kind, ErrorKind::Version, "{wrong:?}");
        }
    }
}
