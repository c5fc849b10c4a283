//! The log as lines of JSON, streamed.

use super::{AuditEntry, READ_BYTES, Search, is_shown, read, unreadable};
use crate::audit::{AuditLimits, AuditLog, AuditPosition};
use crate::pages::encode;
use crate::problem::Problem;
use crate::service::Service;
use crate::who::Who;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Bytes of the log that one export reads at most: four files of the default size.
const MAX_EXPORT: u64 = 256 << 20;

/// Entries of one part: about as many as a megabyte has.
const PART_ENTRIES: usize = 4_000;

/// Export that is being sent. It reads a part of the log whenever its client has read the one before.
pub(super) struct Export {
    service: Service,
    log: Arc<dyn AuditLog>,
    who: Who,
    search: Search,
    position: Option<AuditPosition>,
    /// Bytes that may still be read.
    left: u64,
    is_over: bool,
    /// Bytes that were read before the response began.
    first: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl Export {
    /// Starts an export, and reads its first part: a log that cannot be read is a problem document.
    pub(super) async fn start(
        service: &Service,
        log: Arc<dyn AuditLog>,
        who: Who,
        search: Search,
        position: Option<AuditPosition>,
        permit: OwnedSemaphorePermit,
    ) -> Result<Export, Problem> {
        let service = service.clone();
        let (left, is_over, first) = (MAX_EXPORT, false, Bytes::new());
        let mut export = Export { service, log, who, search, position, left, is_over, first, _permit: permit };
        export.first = export.part().await?;
        Ok(export)
    }

    /// Returns the response.
    pub(super) fn response(self) -> Response {
        let parts = stream::unfold(self, |mut export| async move {
            let bytes = export.next().await?;
            Some((Ok::<Bytes, Infallible>(bytes), export))
        });
        let mut response = Body::from_stream(parts).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"audit.ndjson\""));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    /// Returns the next bytes; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.first.is_empty() {
            return Some(std::mem::take(&mut self.first));
        }
        while !self.is_over {
            let is_stopped = self.left == 0 || self.service.0.draining.is_cancelled();
            let part = if is_stopped { self.end() } else { self.part().await.unwrap_or_else(|_| self.end()) };
            if !part.is_empty() {
                return Some(part);
            }
        }
        None
    }

    /// Reads a part of the log. Returns its lines, if any are asked for.
    async fn part(&mut self) -> Result<Bytes, Problem> {
        let limits = AuditLimits { bytes: self.left.min(READ_BYTES), entries: PART_ENTRIES };
        let read = read(&*self.log, self.search.order, self.position, limits).await.map_err(unreadable)?;
        let mut text = Vec::new();
        for line in read.lines {
            if self.search.is_over(&line) {
                self.is_over = true;
                break;
            }
            if is_shown(&self.who, &line.entry) && self.search.finds(&line) {
                let entry = AuditEntry { seq: line.seq, time: line.time, entry: line.entry };
                // Strings, numbers and JSON, which always serialize.
                text.extend(serde_json::to_vec(&entry).unwrap_or_default());
                text.push(b'\n');
            }
        }
        self.position = Some(read.next);
        // A read may find nothing but removed files, and counts all the same.
        self.left = self.left.saturating_sub(read.scanned.max(1));
        self.is_over |= read.is_end;
        Ok(text.into())
    }

    /// Ends before the log does. The last line says where the next export goes on.
    fn end(&mut self) -> Bytes {
        self.is_over = true;
        format!("{}\n", json!({ "next": self.position.as_ref().map(encode) })).into()
    }
}
