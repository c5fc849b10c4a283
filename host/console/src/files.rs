//! Files of the page.

use agent_spaces_http_server::{HttpResponse, response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use http::{HeaderMap, StatusCode};

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// Number of hexadecimal digits of an ETag.
const ETAG_DIGITS: usize = 32;

/// File of the page.
pub(crate) struct File {
    /// Its name below `/console/`.
    name: &'static str,
    kind: &'static str,
    /// Hash of its bytes: a browser that has them asks for no more.
    etag: HeaderValue,
    bytes: &'static [u8],
}

/// All files of the page.
pub(crate) struct Files(Vec<File>);

impl Files {
    pub(crate) fn new() -> Files {
        Files(TABLE.iter().filter_map(|&(name, bytes)| File::new(name, bytes)).collect())
    }

    /// Returns the file with this name; the page itself for the empty name.
    pub(crate) fn find(&self, name: &str) -> Option<&File> {
        let name = if name.is_empty() { "index.html" } else { name };
        self.0.iter().find(|file| file.name == name)
    }
}

impl File {
    fn new(name: &'static str, bytes: &'static [u8]) -> Option<File> {
        let kind = match name.rsplit_once('.')?.1 {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            "txt" => "text/plain; charset=utf-8",
            _ => return None,
        };
        let hash = blake3::hash(bytes).to_hex();
        let etag = HeaderValue::try_from(format!("\"{}\"", hash.get(..ETAG_DIGITS)?)).ok()?;
        Some(File { name, kind, etag, bytes })
    }

    /// Answers a request for this file. Names are the same in every version, so a browser asks each time.
    pub(crate) fn response(&self, asked: &HeaderMap) -> HttpResponse {
        let mut answer = match self.is_known(asked) {
            true => response(StatusCode::NOT_MODIFIED, Bytes::new()),
            false => response(StatusCode::OK, Bytes::from_static(self.bytes)),
        };
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(ETAG, self.etag.clone());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        answer
    }

    /// Returns true if a browser has this version.
    fn is_known(&self, asked: &HeaderMap) -> bool {
        let lines = asked.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
        let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
        tags.any(|tag| tag == "*" || self.etag == *tag.strip_prefix("W/").unwrap_or(tag))
    }
}

#[cfg(test)]
mod tests {
    use crate::files::*;

    #[test]
    fn the_page_and_what_it_loads_are_built_in() {
        let files = Files::new();
        let kind = |name: &str| files.find(name).map(|file| file.kind);
        assert_eq!(kind(""), Some("text/html; charset=utf-8"));
        assert_eq!(kind("app.js"), Some("text/javascript; charset=utf-8"));
        assert_eq!(kind("app.css"), Some("text/css; charset=utf-8"));
        assert_eq!(kind("icon.svg"), Some("image/svg+xml"));
        for other in ["other.js", "../Cargo.toml", "app.js/", "SHA256SUMS", "APP.JS"] {
            assert_eq!(kind(other), None, "{other}");
        }
        // What the page names is there: a build that is checked in by halves would show nothing.
        let page = std::str::from_utf8(files.find("").unwrap().bytes).unwrap();
        let named = page.split("\"./").skip(1).filter_map(|rest| rest.split('"').next());
        let named: Vec<&str> = named.collect();
        assert!(named.contains(&"app.js"), "{page}");
        assert!(named.iter().all(|&name| kind(name).is_some()), "{named:?}");
    }

    #[test]
    fn a_browser_that_has_a_file_gets_it_once() {
        let files = Files::new();
        let file = files.find("app.js").unwrap();
        let status = |tag: &str| {
            let mut asked = HeaderMap::new();
            asked.insert(IF_NONE_MATCH, tag.parse().unwrap());
            file.response(&asked).status().as_u16()
        };
        let own = file.response(&HeaderMap::new()).headers()[ETAG].to_str().unwrap().to_owned();
        assert_eq!((status(&own), status(&format!("\"x\", W/{own}")), status("*")), (304, 304, 304));
        let other = files.find("app.css").unwrap().etag.to_str().unwrap().to_owned();
        assert_eq!((status("\"x\""), status(&other)), (200, 200));
        assert_eq!(file.response(&HeaderMap::new()).status(), StatusCode::OK);
    }
}
