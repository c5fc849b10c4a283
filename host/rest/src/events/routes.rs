//! Requests about events.

use super::reader::EventReader;
use super::stream::EventStream;
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{Query, RawQuery};
use crate::service::Service;
use crate::who::Who;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::ACCEPT;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Most runs that one stream follows.
const MAX_RUNS: usize = 64;

/// Default and maximum number of events of a page.
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1_000;

/// Bytes of events after which a page ends.
const MAX_PAGE_BYTES: usize = 2 << 20;

/// Header with the id of the last event that a client got.
const LAST_EVENT_ID: &str = "last-event-id";

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(of_run)).routes(routes!(of_runs))
}

/// Events of a run.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventPage {
    /// Events, oldest first.
    #[schema(value_type = Vec<RunEvent>)]
    items: Vec<Value>,
    /// Number to send as `after` for the events that follow: that of the last item or, without items, `after` of the
    /// request; missing if there is neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
    /// True if the run has ended and these are its last events.
    ended: bool,
}

/// Event of a run. It has further members by its type.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Event)]
pub(crate) struct RunEvent {
    /// Type: `runStarted`, `console`, `callScheduled`, `approvalRequired`, `callResult`, `runFinished` and others.
    r#type: String,
    /// Number in its run, from zero.
    seq: u64,
    /// Id of the run.
    run_id: String,
    /// Time.
    #[schema(format = DateTime)]
    timestamp: String,
}

/// Get or follow the events of a run
///
/// With `Accept: text/event-stream`, the events are sent as they happen; `id` is their number, and a client that sends
/// the last one as `Last-Event-ID` misses none and gets none twice. The stream ends with the event `end`.
///
/// A number after that of the last event is no error: the page is empty, with this number as `next`, and a stream has only
/// events with higher numbers.
#[utoipa::path(
    get, path = "/v1/runs/{run}/events", tag = "events", operation_id = "listEvents",
    params(
        ("run" = String, Path, description = "Id of the run"),
        ("after" = Option<u64>, Query, description = "Only events after the one with this number; there need not be one"),
        ("limit" = Option<u32>, Query, description = "Maximum number of events of a page", minimum = 1, maximum = 1000),
        ("follow" = Option<bool>, Query, description = "False for a stream that ends with what is there now"),
        ("Last-Event-ID" = Option<String>, Header, description = "Id of the last event that the client got"),
    ),
    responses(
        (status = 200, description = "Events", content((EventPage = "application/json"), (String = "text/event-stream"))),
    ),
)]
async fn of_run(
    State(service): State<Service>,
    who: Who,
    Path(run): Path<String>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let query = query.with(&["after", "limit", "follow"])?;
    let row = service.run_row(&who, &run).await?;
    let last = last_event(&headers, &query, 1)?.into_iter().next().flatten();
    let limit = query.count("limit", 1, MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
    let follows = query.flag("follow")?.unwrap_or(true);
    if wants_stream(&headers) {
        return Ok(EventStream::new(&service, vec![(row, last)], follows).response());
    }
    let mut reader = EventReader::after(service.store(), &run, last);
    let (mut items, mut next, mut is_cut, mut bytes) = (Vec::new(), last, false, 0_usize);
    'pages: loop {
        let events = reader.next().await?;
        if events.is_empty() {
            break;
        }
        for event in events {
            bytes = bytes.saturating_add(event.text.len());
            if items.len() == limit || (bytes > MAX_PAGE_BYTES && !items.is_empty()) {
                is_cut = true;
                break 'pages;
            }
            next = Some(event.number);
            items.push(serde_json::from_str(&event.text).map_err(|error| Problem::internal(&error))?);
        }
    }
    let ended = row.status.is_ended() && !is_cut;
    Ok(Json(EventPage { items, next, ended }).into_response())
}

/// Follow the events of several runs
///
/// One stream for up to 64 runs. The `id` of an event has the number of the last event of each run, in the order of the
/// request.
#[utoipa::path(
    get, path = "/v1/events", tag = "events", operation_id = "followEvents",
    params(
        ("run" = Vec<String>, Query, description = "Ids of the runs", min_items = 1, max_items = 64, style = Form, explode = true),
        ("after" = Option<String>, Query, description = "Id of the last event that the client got"),
        ("follow" = Option<bool>, Query, description = "False for a stream that ends with what is there now"),
        ("Last-Event-ID" = Option<String>, Header, description = "Id of the last event that the client got"),
    ),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = String)),
)]
async fn of_runs(
    State(service): State<Service>,
    who: Who,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let query = query.with(&["run", "after", "follow"])?;
    let ids: Vec<&str> = query.all("run").collect();
    if !(1..=MAX_RUNS).contains(&ids.len()) {
        return Err(Problem::parameter("run", format!("expected 1 to {MAX_RUNS} runs")));
    }
    if ids.iter().collect::<BTreeSet<_>>().len() < ids.len() {
        return Err(Problem::parameter("run", "a run is named more than once"));
    }
    let last = last_event(&headers, &query, ids.len())?;
    let follows = query.flag("follow")?.unwrap_or(true);
    let mut runs = Vec::with_capacity(ids.len());
    for (id, last) in ids.into_iter().zip(last) {
        runs.push((service.run_row(&who, id).await?, last));
    }
    Ok(EventStream::new(&service, runs, follows).response())
}

/// Returns true if the client asks for a stream.
fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Reads the last events that a client got, one number for each run; `None` for none.
fn last_event(headers: &HeaderMap, query: &Query, runs: usize) -> Result<Vec<Option<u64>>, Problem> {
    let header = headers.get(LAST_EVENT_ID);
    let text = match header {
        Some(value) => Some(value.to_str().unwrap_or("?")),
        None => query.text("after")?,
    };
    // A browser sends an empty one if it got no event.
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(vec![None; runs]) };
    let wrong = || {
        let detail = "expected the id of an event of this stream";
        if header.is_some() { Problem::header("Last-Event-ID", detail) } else { Problem::parameter("after", detail) }
    };
    let number = |part: &str| match part {
        "" if runs > 1 => Ok(None),
        "" => Err(wrong()),
        // A number that is too large is after the last event, as any other that no event has.
        part if part.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Some(part.parse().unwrap_or(u64::MAX))),
        _ => Err(wrong()),
    };
    let numbers = text.split(',').take(runs.saturating_add(1)).map(number).collect::<Result<Vec<_>, _>>()?;
    if numbers.len() == runs { Ok(numbers) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::{last_event, wants_stream};
    use crate::query::Query;
    use http::HeaderMap;
    use http::header::ACCEPT;

    fn last(header: Option<&str>, query: &str, runs: usize) -> Option<Vec<Option<u64>>> {
        let mut headers = HeaderMap::new();
        if let Some(value) = header {
            headers.insert("last-event-id", value.parse().unwrap());
        }
        last_event(&headers, &Query::parse(Some(query), &["after"]).unwrap(), runs).ok()
    }

    #[test]
    fn the_last_event_is_one_number_for_each_run() {
        assert_eq!(last(None, "", 2), Some(vec![None, None]));
        assert_eq!(last(Some("7"), "after=3", 1), Some(vec![Some(7)]), "the header is of the newest connection");
        assert_eq!(last(None, "after=3", 1), Some(vec![Some(3)]));
        assert_eq!(last(Some("4,,0"), "", 3), Some(vec![Some(4), None, Some(0)]));
        assert_eq!(last(Some(""), "", 1), Some(vec![None]));
        assert_eq!(last(None, "after=99999999999999999999", 1), Some(vec![Some(u64::MAX)]));
        for wrong in ["x", "-1", "1,2", ",", "1.0", "1 "] {
            assert_eq!(last(Some(wrong), "", 1), None, "{wrong}");
        }
        assert_eq!(last(Some("1"), "", 2), None);
    }

    #[test]
    fn a_stream_is_sent_to_clients_that_ask_for_one() {
        let wants = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, text.parse().unwrap());
            wants_stream(&headers)
        };
        assert!(wants("text/event-stream") && wants("application/json, text/event-stream;q=0.5"));
        assert!(!wants("*/*") && !wants("application/json"));
    }
}
