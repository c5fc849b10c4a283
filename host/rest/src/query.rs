//! Query parameters: known names, each at most once unless it is a list.

use crate::problem::Problem;
use agent_spaces_types::nearest::nearest;
use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, IntoDeserializer};

/// Longest query: 64 run ids and some parameters.
const MAX_QUERY: usize = 8_192;

/// Query of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query that may have these parameters.
    pub(crate) fn parse(text: Option<&str>, known: &[&str]) -> Result<Query, Problem> {
        let text = text.unwrap_or_default();
        if text.len() > MAX_QUERY {
            return Err(Problem::query(format!("the query has more than {MAX_QUERY} bytes")));
        }
        let mut pairs = Vec::new();
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            if !known.contains(&&*name) {
                let near = nearest(&name, known.iter().copied());
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let names = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(Problem::parameter(shown(&name), format!("unknown parameter (known: {names}){near}")));
            }
            if value.contains('\u{fffd}') || value.contains('\0') {
                return Err(Problem::parameter(name.into_owned(), "the value is not UTF-8 text"));
            }
            pairs.push((name.into_owned(), value.into_owned()));
        }
        Ok(Query(pairs))
    }

    /// Returns a parameter that may be given once.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (Some(_), Some(_)) => Err(Problem::parameter(name, "given more than once")),
            (value, _) => Ok(value),
        }
    }

    /// Returns all values of a parameter.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns a whole number within these bounds.
    pub(crate) fn count(&self, name: &str, least: usize, most: usize) -> Result<Option<usize>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = Some(text).filter(|_| is_digits).and_then(|text| text.parse().ok());
        let number = number.filter(|number| (least..=most).contains(number));
        number
            .map(Some)
            .ok_or_else(|| Problem::parameter(name, format!("expected a whole number from {least} to {most}")))
    }

    /// Returns `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        match self.text(name)? {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(Problem::parameter(name, "expected `true` or `false`")),
        }
    }

    /// Returns one of the named values of a type.
    pub(crate) fn choice<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let read = T::deserialize(IntoDeserializer::<ValueError>::into_deserializer(text));
        read.map(Some).map_err(|error| Problem::parameter(name, error.to_string()))
    }

    /// Returns a time.
    pub(crate) fn time(&self, name: &str) -> Result<Option<i64>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let wrong = || Problem::parameter(name, "expected a time such as `2026-01-31T12:00:00Z`");
        crate::time::parse(text).map(Some).ok_or_else(wrong)
    }
}

/// Cuts a name that a request brings.
fn shown(name: &str) -> String {
    name.chars().filter(|one| !one.is_control()).take(100).collect()
}

/// A request without a query.
pub(crate) struct NoQuery;

impl<S: Sync> FromRequestParts<S> for NoQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<NoQuery, Problem> {
        Query::parse(parts.uri.query(), &[]).map(|_| NoQuery)
    }
}

/// Query as it was sent.
pub(crate) struct RawQuery(Option<String>);

impl RawQuery {
    /// Reads a query that may have these parameters.
    pub(crate) fn with(&self, known: &[&str]) -> Result<Query, Problem> {
        Query::parse(self.0.as_deref(), known)
    }
}

impl<S: Sync> FromRequestParts<S> for RawQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<RawQuery, Problem> {
        Ok(RawQuery(parts.uri.query().map(str::to_owned)))
    }
}

#[cfg(test)]
mod tests {
    use super::Query;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Size {
        Small,
    }

    #[test]
    fn unknown_and_repeated_parameters_are_refused() {
        let known = ["limit", "status", "run"];
        let query = Query::parse(Some("limit=3&run=a&run=b%20c"), &known).unwrap();
        assert_eq!(query.count("limit", 1, 10).unwrap(), Some(3));
        assert_eq!(query.all("run").collect::<Vec<_>>(), ["a", "b c"]);
        assert!(query.text("run").is_err());
        let problem = Query::parse(Some("limits=3"), &known).unwrap_err();
        assert!(serde_json::to_string(&problem).unwrap().contains("did you mean `limit`"), "{problem:?}");
        assert!(Query::parse(Some("run=%ff"), &known).is_err());
        assert!(Query::parse(Some(&"run=a&".repeat(5_000)), &known).is_err());
        for text in ["+3", "3.0", "", "99999999999999999999"] {
            assert!(
                Query::parse(Some(&format!("limit={text}")), &known).unwrap().count("limit", 1, 10).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_fault_names_its_parameter() {
        let known = ["limit", "size", "flag", "time"];
        let query = Query::parse(Some("limit=x&size=large&flag=1&time=now"), &known).unwrap();
        let faults = [
            query.count("limit", 1, 2).unwrap_err(),
            query.choice::<Size>("size").unwrap_err(),
            query.flag("flag").unwrap_err(),
            query.time("time").unwrap_err(),
        ];
        for (name, fault) in known.into_iter().zip(faults) {
            assert_eq!(serde_json::to_value(fault).unwrap()["errors"][0]["parameter"], name);
        }
        let small = Query::parse(Some("size=small"), &known).unwrap();
        assert_eq!(small.choice::<Size>("size").unwrap(), Some(Size::Small));
        assert_eq!(small.choice::<Size>("limit").unwrap(), None);
    }
}
