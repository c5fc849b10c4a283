//! A compiled script as a WASI HTTP service: it is asked for the answer to each request.
//!
//! # Layout
//! - [`request`]: what the script is given.
//! - [`response`]: what becomes of its answer, or of its failure.
//! - [`header_value`]: the bytes of a header as JavaScript sees them.
#![no_std]

extern crate alloc;

mod header_value;
mod request;
mod response;

mod bindings {
    #![allow(missing_docs, reason = "generated")]
    wit_bindgen::generate!({
        path: ["../../../wit/engine.wit", "../wit"],
        world: "agent-spaces:wasi/http",
        with: { "agent-spaces:engine/types@0.1.0": rt::types },
        generate_all,
    });
    export!(Http with_types_in self);
    use super::Http;
}
use bindings::agent_spaces::engine::handler;
use bindings::exports::wasi::http::handler::Guest;
use bindings::wasi::http::types::{ErrorCode, Request, Response};

struct Http;

impl Guest for Http {
    async fn handle(request: Request) -> Result<Response, ErrorCode> {
        // One request to an instance: a server that would reuse this one starts a fresh one instead, so
        // that no request sees what another left behind.
        wit_bindgen::backpressure_inc();
        let Some(request) = request::read(request).await? else {
            return response::too_large();
        };
        match handler::handle(request).await {
            Ok(answer) => response::send(answer),
            Err(error) => response::failed(&rt::describe(&error)),
        }
    }
}
