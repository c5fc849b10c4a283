//! HTTP side: `POST /` runs the program and answers with its value.

use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_types::limits::Limits;
use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Connections at once; further ones wait.
const MAX_CONNECTIONS: usize = 200;
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for the next connection after one could not be accepted, mostly because too many files are open.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Serves until the process ends.
pub(crate) async fn serve(address: &str, program: Program) -> Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen at {address}"))?;
    println!("listening at http://{}", listener.local_addr()?);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let place = places.clone().acquire_owned().await?;
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        let program = program.clone();
        tokio::spawn(async move {
            let service = service_fn(|request: Request<Incoming>| {
                let program = program.clone();
                async move { Ok::<_, Infallible>(answer(&request, &program).await) }
            });
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            // Errors of a connection concern its client alone.
            let _ended = builder.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

async fn answer(request: &Request<Incoming>, program: &Program) -> Response<Full<Bytes>> {
    if request.uri().path() != "/" {
        return respond(StatusCode::NOT_FOUND, json!({ "error": "there is nothing here" }));
    }
    if request.method() != Method::POST {
        return respond(StatusCode::METHOD_NOT_ALLOWED, json!({ "error": "send a POST" }));
    }
    let options = RunOptions { limits: Some(Limits::default()), ..RunOptions::default() };
    let report = program.run(options).await;
    match report.outcome {
        Ok(value) => respond(StatusCode::OK, json!({ "value": value, "usage": report.usage })),
        Err(error) => {
            let error = json!({ "code": error.code, "message": error.message });
            respond(StatusCode::UNPROCESSABLE_ENTITY, json!({ "error": error }))
        }
    }
}

fn respond(status: StatusCode, body: serde_json::Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    response
}
