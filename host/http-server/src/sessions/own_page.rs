//! Protection against cross-site request forgery (CSRF): only pages of this server may use sessions.

use crate::origin_check::is_same_origin;
use http::header::ORIGIN;
use http::{HeaderMap, Uri};

/// Header that the console sends with every request, with the value `1`. Pages of other origins cannot send it: no answer
/// to a preflight request allows it.
pub const CONSOLE_HEADER: &str = "x-agent-spaces-console";

const SEC_FETCH_SITE: &str = "sec-fetch-site";
const FORWARDED_PROTO: &str = "x-forwarded-proto";

/// Returns true if a request was sent by a page of this server: it has the console's header, and its browser names no other
/// origin. `SameSite` of a cookie is not enough, since other ports of a host are the same site.
pub fn is_from_own_page(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
    let is_same = match (sites.next(), sites.next()) {
        // The browser compared the origins. A proxy may have changed the host since.
        (Some(site), None) => site == "same-origin",
        // An older browser, or an address that is neither local nor encrypted.
        (None, None) => is_same_origin(uri, headers),
        _ => false,
    };
    let mut given = headers.get_all(CONSOLE_HEADER).iter();
    is_same && matches!((given.next(), given.next()), (Some(value), None) if value == "1")
}

/// Returns true if the page that sent a request was loaded over HTTPS, by what its browser or the proxy says. For a
/// stricter cookie either may be believed.
pub fn is_https(headers: &HeaderMap) -> bool {
    let is_origin = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    is_origin || headers.get(FORWARDED_PROTO).is_some_and(|scheme| scheme.as_bytes().eq_ignore_ascii_case(b"https"))
}

#[cfg(test)]
mod tests {
    use crate::sessions::own_page::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    const HOST: (&str, &str) = ("host", "localhost:7878");
    const OWN: (&str, &str) = ("x-agent-spaces-console", "1");

    fn is_own(lines: &[(&'static str, &str)]) -> bool {
        is_from_own_page(&Uri::from_static("/v1/runs"), &headers(&[&[HOST][..], lines].concat()))
    }

    #[test]
    fn only_requests_with_the_header_and_of_the_same_origin_are_of_own_pages() {
        assert!(is_own(&[OWN]));
        assert!(is_own(&[OWN, ("origin", "http://localhost:7878")]));
        assert!(is_own(&[OWN, ("sec-fetch-site", "same-origin"), ("origin", "https://tools.example.com")]));
        assert!(!is_own(&[]));
        for lines in [
            &[("sec-fetch-site", "same-origin")][..],
            &[("x-agent-spaces-console", "0")],
            &[("x-agent-spaces-console", "")],
            &[OWN, OWN],
            &[OWN, ("origin", "http://localhost:3000")],
            &[OWN, ("origin", "https://evil.example")],
            &[OWN, ("origin", "null")],
            &[OWN, ("sec-fetch-site", "same-site"), ("origin", "http://localhost:7878")],
            &[OWN, ("sec-fetch-site", "cross-site")],
            &[OWN, ("sec-fetch-site", "none")],
            &[OWN, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
        ] {
            assert!(!is_own(lines), "{lines:?}");
        }
    }

    #[test]
    fn a_page_over_https_is_known_by_its_origin_or_its_proxy() {
        assert!(is_https(&headers(&[("origin", "https://tools.example.com")])));
        assert!(is_https(&headers(&[("x-forwarded-proto", "HTTPS")])));
        assert!(!is_https(&headers(&[("origin", "http://localhost:7878"), ("x-forwarded-proto", "http")])));
        assert!(!is_https(&headers(&[])));
    }
}
