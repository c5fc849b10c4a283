//! The console as a part of the server.

use crate::files::Files;
use crate::problem::{problem, refused};
use crate::protection::protect;
use crate::session_log::SessionLog;
use crate::sign_in::SignIn;
use agent_spaces_http_server::{Access, Authenticated, Handling, HttpResponse, Refusal, Routes, Sessions, response};
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, HeaderValue, LOCATION};
use http::{Method, Request, StatusCode};
use hyper::body::{Body, Incoming};
use std::error::Error;
use std::sync::Arc;

/// Path of the page.
pub const PATH: &str = "/console/";

/// Path of the session: `POST` begins it, `DELETE` ends it.
const SESSION: &str = "/console/session";

/// The page, its files and its sign-in. They are open to anyone: what the page shows needs a session.
pub struct ConsoleRoutes {
    files: Files,
    sign_in: SignIn,
}

impl ConsoleRoutes {
    /// Serves the page to callers with these sessions, which the server has too.
    pub fn new(sessions: Sessions) -> ConsoleRoutes {
        ConsoleRoutes { files: Files::new(), sign_in: SignIn::new(sessions) }
    }

    /// Records sessions that begin and end.
    #[must_use]
    pub fn with_log(mut self, log: Arc<dyn SessionLog>) -> ConsoleRoutes {
        self.sign_in.log = Some(log);
        self
    }

    async fn answer<B>(&self, request: Request<B>) -> HttpResponse
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        if path == SESSION {
            return protect(self.sign_in.answer(&head, body).await);
        }
        if !is_read(&head.method) {
            let mut answer = problem(StatusCode::METHOD_NOT_ALLOWED, "method", "This path takes GET");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return protect(answer);
        }
        protect(match path.strip_prefix(PATH) {
            Some(name) => match self.files.find(name) {
                Some(file) => file.response(&head.headers),
                None => problem(StatusCode::NOT_FOUND, "not_found", "There is no such file"),
            },
            None => to_page(),
        })
    }
}

impl Routes for ConsoleRoutes {
    fn access(&self, method: &Method, path: &str) -> Option<Access> {
        let is_own = path == "/console" || path.starts_with(PATH) || (path == "/" && is_read(method));
        is_own.then_some(Access::Open)
    }

    fn handle<'a>(&'a self, request: Request<Incoming>, _: Option<Authenticated<'a>>) -> Handling<'a> {
        Box::pin(self.answer(request))
    }

    fn refuse(&self, refusal: &Refusal) -> HttpResponse {
        protect(refused(refusal))
    }
}

fn is_read(method: &Method) -> bool {
    [Method::GET, Method::HEAD].contains(method)
}

/// Sends a browser to the page.
fn to_page() -> HttpResponse {
    let mut answer = response(StatusCode::TEMPORARY_REDIRECT, Bytes::new());
    answer.headers_mut().insert(LOCATION, HeaderValue::from_static(PATH));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
