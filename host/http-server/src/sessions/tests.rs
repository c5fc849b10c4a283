//! Sign-in, sign-out, links, and cookies that do not count.

use crate::sessions::*;
use agent_spaces_types::caller::Caller;

const OPERATOR: &str = "the-token-of-the-operator";
const ANN: &str = "the-token-of-ann-0001";
const TWELVE_HOURS: u64 = 12 * 60 * 60;

fn sessions(ann: &str) -> Sessions {
    let mut callers = Callers::default();
    callers.add(Token::new(OPERATOR).unwrap(), Client::of_process(Caller::default())).unwrap();
    callers.add(Token::new(ann).unwrap(), Client::named("ann", Caller::default())).unwrap();
    Sessions::new(&callers)
}

/// Name and value of the cookie that was set.
fn cookie_of(signed_in: &SignedIn<'_>) -> String {
    signed_in.set_cookie.to_str().unwrap().split("; ").next().unwrap().to_owned()
}

fn sent(cookies: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static("localhost:7878"));
    headers.insert(CONSOLE_HEADER, HeaderValue::from_static("1"));
    for cookie in cookies {
        headers.append(COOKIE, cookie.parse().unwrap());
    }
    headers
}

/// Name of the caller whose session a request has, `seconds` from now.
fn who(sessions: &Sessions, headers: &HeaderMap, seconds: u64) -> Option<String> {
    let session = sessions.session_at(&Uri::from_static("/v1/runs"), headers, now() + seconds);
    session.map(|(client, _)| client.owner().to_owned())
}

fn is_ann(sessions: &Sessions, cookies: &[&str]) -> bool {
    who(sessions, &sent(cookies), 0).as_deref() == Some("ann")
}

#[test]
fn a_token_begins_a_session_that_survives_a_restart_but_not_another_token() {
    let before = sessions(ANN);
    let signed_in = before.sign_in(&format!("{ANN}\n"), false).unwrap();
    assert_eq!(signed_in.client.owner(), "ann");
    let cookie = cookie_of(&signed_in);
    assert!(is_ann(&before, &[&cookie]) && is_ann(&sessions(ANN), &[&cookie]));
    assert_eq!(who(&sessions("the-token-of-ann-0002"), &sent(&[&cookie]), 0), None);
    assert_eq!(who(&before, &sent(&[&cookie]), TWELVE_HOURS - 10).as_deref(), Some("ann"));
    assert_eq!(who(&before, &sent(&[&cookie]), TWELVE_HOURS + 1), None, "expired");
    assert!(matches!(before.sign_in("the-token-of-nobody", false), Err(SignInError::Token)));
    assert!(matches!(before.sign_in("", false), Err(SignInError::Token)));
}

#[test]
fn the_cookie_is_kept_from_scripts_other_sites_and_if_possible_plain_http() {
    let sessions = sessions(ANN);
    let set = |is_secure| sessions.sign_in(ANN, is_secure).unwrap().set_cookie;
    let plain = set(false).to_str().unwrap().to_owned();
    assert!(plain.starts_with("agent_spaces_session=v1."), "{plain}");
    assert!(plain.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"), "{plain}");
    assert!(set(true).to_str().unwrap().ends_with("; Max-Age=43200; Secure"));
    assert!(!format!("{:?}", sessions.sign_in(ANN, false).unwrap()).contains("v1."), "it is a secret");
}

#[test]
fn a_cookie_counts_only_from_a_page_of_this_server() {
    let sessions = sessions(ANN);
    let cookie = cookie_of(&sessions.sign_in(ANN, false).unwrap());
    let mut missing = sent(&[&cookie]);
    missing.remove(CONSOLE_HEADER);
    assert_eq!(who(&sessions, &missing, 0), None);
    for (name, value) in [("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")] {
        let mut foreign = sent(&[&cookie]);
        foreign.insert(name, value.parse().unwrap());
        assert_eq!(who(&sessions, &foreign, 0), None, "{value}");
    }
    let mut own = sent(&[&cookie]);
    own.insert("origin", HeaderValue::from_static("http://localhost:7878"));
    own.insert("sec-fetch-site", HeaderValue::from_static("same-origin"));
    assert_eq!(who(&sessions, &own, 0).as_deref(), Some("ann"));
}

#[test]
fn a_forged_cookie_does_not_count() {
    let sessions = sessions(ANN);
    let cookie = cookie_of(&sessions.sign_in(ANN, false).unwrap());
    // Ann signs for the operator with the key of her own token.
    let key = Token::new(ANN).unwrap().session_key();
    for identity in ["process", "caller bob", ""] {
        let forged = mint(Purpose::Session, &key, identity, now()).unwrap();
        assert_eq!(who(&sessions, &sent(&[&format!("{NAME}={forged}")]), 0), None, "{identity}");
    }
    let (rest, last) = cookie.split_at(cookie.len() - 3);
    let other = if last == "AAA" { "BBB" } else { "AAA" };
    assert!(!is_ann(&sessions, &[&format!("{rest}{other}")]), "another MAC");
    let link = link(&Token::new(ANN).unwrap()).unwrap();
    assert!(!is_ann(&sessions, &[&format!("{NAME}={link}")]), "a link is no session");
}

#[test]
fn of_several_cookies_one_has_the_name() {
    let sessions = sessions(ANN);
    let cookie = cookie_of(&sessions.sign_in(ANN, false).unwrap());
    assert!(is_ann(&sessions, &[&format!("theme=dark; {cookie};x=y")]) && is_ann(&sessions, &["a=b", &cookie]));
    let operator = cookie_of(&sessions.sign_in(OPERATOR, false).unwrap());
    assert_eq!(who(&sessions, &sent(&[&operator]), 0).as_deref(), Some(""));
    assert_eq!(who(&sessions, &sent(&[&format!("{operator}; {cookie}")]), 0), None, "whose is it?");
    assert_eq!(who(&sessions, &sent(&[&operator, &cookie]), 0), None);
    assert_eq!(who(&sessions, &sent(&[]), 0), None);
}

#[test]
fn signing_out_ends_one_session() {
    let sessions = sessions(ANN);
    let uri = Uri::from_static("/console/session");
    let [first, second] = [0, 1].map(|_| cookie_of(&sessions.sign_in(ANN, false).unwrap()));
    let mut foreign = sent(&[&first]);
    foreign.remove(CONSOLE_HEADER);
    assert!(sessions.sign_out(&uri, &foreign).0.is_none());
    assert!(is_ann(&sessions, &[&first]), "another site cannot sign anyone out");
    let (ended, removed) = sessions.sign_out(&uri, &sent(&[&first]));
    assert_eq!(ended.map(Client::owner), Some("ann"));
    assert!(sessions.sign_out(&uri, &sent(&[&first])).0.is_none(), "it ended before");
    assert!(
        removed.to_str().unwrap().starts_with(&format!("{NAME}=;")) && removed.to_str().unwrap().contains("Max-Age=0")
    );
    assert!(!is_ann(&sessions, &[&first]) && is_ann(&sessions, &[&second]));
}

#[test]
fn a_link_signs_in_once_and_soon() {
    let sessions = sessions(ANN);
    let new = |token: &str| link(&Token::new(token).unwrap()).unwrap();
    let link = new(ANN);
    let signed_in = sessions.sign_in_with_link(&link, false).unwrap();
    assert_eq!(signed_in.client.owner(), "ann");
    assert!(is_ann(&sessions, &[&cookie_of(&signed_in)]));
    assert!(matches!(sessions.sign_in_with_link(&link, false), Err(SignInError::Link)), "used");
    assert!(sessions.sign_in_with_link(&new(OPERATOR), false).unwrap().client.is_process());
    assert!(matches!(sessions.sign_in_with_link_at(&new(ANN), false, now() + 121), Err(SignInError::Link)), "expired");
    for wrong in [new("the-token-of-nobody"), String::new(), new(ANN).replacen("v1..", "v1.cHJvY2Vzcw.", 1)] {
        assert!(matches!(sessions.sign_in_with_link(&wrong, false), Err(SignInError::Link)), "{wrong}");
    }
    let key = Token::new(ANN).unwrap().session_key();
    let earlier = mint(Purpose::Link, &key, "", now() - 60).unwrap();
    assert!(
        matches!(sessions.sign_in_with_link(&earlier, false), Err(SignInError::Link)),
        "a server that was restarted does not know whether it was used"
    );
    let session = cookie_of(&sessions.sign_in(ANN, false).unwrap());
    let session = session.split_once('=').unwrap().1;
    assert!(matches!(sessions.sign_in_with_link(session, false), Err(SignInError::Link)), "a session is no link");
}
