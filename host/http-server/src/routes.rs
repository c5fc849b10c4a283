//! [`Routes`]: the trait of a part of the server, with its access levels.

use crate::client::Client;
use crate::connections::ConnectionHold;
use crate::refusal::Refusal;
use crate::responses::HttpResponse;
use http::{Method, Request};
use hyper::body::Incoming;
use std::pin::Pin;

/// Access level of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone: no token is needed.
    Open,
    /// Any caller with a token.
    Caller,
    /// The operator: the client that started the process.
    Operator,
}

/// Caller of a request.
pub struct Authenticated<'a> {
    /// Its identity.
    pub client: &'a Client,
    /// Its place in [`Callers::clients`](crate::Callers::clients).
    pub index: usize,
    /// Keeps the connection counted: for what goes on after the response, as an upgraded connection does.
    pub connection: ConnectionHold,
}

/// Response that is being made.
pub type Handling<'a> = Pin<Box<dyn Future<Output = HttpResponse> + Send + 'a>>;

/// Phase of a shutdown.
pub type Stopping<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Part of the server: answers the requests below one or more paths.
///
/// At shutdown, the server waits for requests in flight and [`drained`](Routes::drained). What is late is ended with
/// [`stop`](Routes::stop); then [`close`](Routes::close) ends streams. Each phase has a time limit.
pub trait Routes: Send + Sync {
    /// Returns who may send a request to this path; `None` if the path is not this part's.
    fn access(&self, method: &Method, path: &str) -> Option<Access>;

    /// Answers a request. `caller` is `None` for open paths. The future is dropped if the client disconnects.
    fn handle<'a>(&'a self, request: Request<Incoming>, caller: Option<Authenticated<'a>>) -> Handling<'a>;

    /// Returns another header than `Authorization` in which callers of this part may send their token, in lower case: some
    /// protocols have their own. Its value is the token alone.
    fn token_header(&self) -> Option<&'static str> {
        None
    }

    /// Renders a refusal of the server. The first part also renders those of paths that no part has.
    fn refuse(&self, refusal: &Refusal) -> HttpResponse {
        refusal.text_response()
    }

    /// Waits until nothing is in progress that is not a request in flight, such as messages of an upgraded connection.
    fn drained(&self) -> Stopping<'_> {
        Box::pin(std::future::ready(()))
    }

    /// Ends what is in progress. Requests that wait for it return.
    fn stop(&self) -> Stopping<'_> {
        Box::pin(std::future::ready(()))
    }

    /// Closes all streams, sessions and upgraded connections.
    fn close(&self) -> Stopping<'_> {
        Box::pin(std::future::ready(()))
    }
}
