//! Conditions of requests that change a file.

use crate::etags::ETags;
use crate::problem::Problem;
use agent_spaces_std::fs::Precondition;
use http::HeaderMap;
use http::header::{IF_MATCH, IF_NONE_MATCH};

/// State of a file that a request depends on.
pub(super) enum Expectation {
    Any,
    Absent,
    Present,
    Tag(String),
}

impl Expectation {
    /// Reads `If-Match` and `If-None-Match`.
    pub(super) fn read(headers: &HeaderMap) -> Result<Expectation, Problem> {
        let (matching, other) = (ETags::read(headers, &IF_MATCH)?, ETags::read(headers, &IF_NONE_MATCH)?);
        match (matching, other) {
            (None, None) => Ok(Expectation::Any),
            (None, Some(ETags::Any)) => Ok(Expectation::Absent),
            (Some(ETags::Any), None) => Ok(Expectation::Present),
            (Some(ETags::Listed(tags)), None) => match <[String; 1]>::try_from(tags) {
                Ok([tag]) => Ok(Expectation::Tag(tag)),
                Err(_) => Err(Problem::header("If-Match", "expected one ETag")),
            },
            (_, Some(_)) => Err(Problem::header("If-None-Match", "expected `*`, without `If-Match`")),
        }
    }

    pub(super) fn precondition(&self) -> Precondition<'_> {
        match self {
            Expectation::Any => Precondition::Any,
            Expectation::Absent => Precondition::Absent,
            Expectation::Present => Precondition::Present,
            Expectation::Tag(tag) => Precondition::Match(tag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Expectation;
    use agent_spaces_std::fs::Precondition;
    use http::HeaderMap;
    use http::header::HeaderName;

    fn read(headers: &[(&'static str, &str)]) -> Result<Expectation, crate::problem::Problem> {
        let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        Expectation::read(&headers.collect::<HeaderMap>())
    }

    #[test]
    fn a_change_depends_on_one_etag_or_on_whether_the_file_exists() {
        assert_eq!(read(&[]).unwrap().precondition(), Precondition::Any);
        assert_eq!(read(&[("if-match", "\"ab\"")]).unwrap().precondition(), Precondition::Match("ab"));
        assert_eq!(read(&[("if-match", "*")]).unwrap().precondition(), Precondition::Present);
        assert_eq!(read(&[("if-none-match", "*")]).unwrap().precondition(), Precondition::Absent);
        for wrong in [
            &[("if-match", "ab")][..],
            &[("if-match", "\"a\", \"b\"")],
            &[("if-none-match", "\"a\"")],
            &[("if-match", "*"), ("if-none-match", "*")],
            &[("if-match", "\"a\"b\"")],
            &[("if-match", "")],
            &[("if-none-match", "")],
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
