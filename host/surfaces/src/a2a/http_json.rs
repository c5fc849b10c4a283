//! HTTP+JSON binding.

use super::error::{A2aError, ErrorKind};
use super::operation::Operation;
use super::query::Query;
use crate::bounds::MAX_VALUES;
use agent_spaces_types::json_memory;
use http::Method;
use serde_json::{Value, json};

/// Media type of this binding.
pub(super) const MEDIA_TYPE: &str = "application/a2a+json";

/// Reads a request to a path below that of an agent, without its first slash.
pub(super) fn read(method: &Method, path: &str, query: &Query, body: &[u8]) -> Result<Operation, A2aError> {
    match (method, path) {
        (&Method::POST, "message:send") => Operation::send(json_body(body)?, false),
        (&Method::POST, "message:stream") => Operation::send(json_body(body)?, true),
        (&Method::GET, "tasks") => Operation::list(query),
        (&Method::GET, "extendedAgentCard") => Ok(Operation::ExtendedCard),
        _ => match path.strip_prefix("tasks/") {
            Some(rest) => of_task(method, rest, query),
            None => Err(unknown()),
        },
    }
}

fn of_task(method: &Method, rest: &str, query: &Query) -> Result<Operation, A2aError> {
    match rest.split_once('/') {
        Some((_, "pushNotificationConfigs")) if matches!(*method, Method::GET | Method::POST) => Ok(Operation::Push),
        Some((_, configs)) if matches!(*method, Method::GET | Method::DELETE) => {
            let id = configs.strip_prefix("pushNotificationConfigs/");
            id.filter(|id| !id.contains('/')).map(|_| Operation::Push).ok_or_else(unknown)
        }
        Some(_) => Err(unknown()),
        None => match (method, rest.rsplit_once(':')) {
            (&Method::POST, Some((task, "cancel"))) => Ok(Operation::Cancel { task: task.to_owned() }),
            // The text of the protocol says POST, its definition GET.
            (&Method::POST | &Method::GET, Some((task, "subscribe"))) => {
                Ok(Operation::Subscribe { task: task.to_owned() })
            }
            (&Method::GET, _) if !rest.is_empty() => Operation::get(rest, query),
            _ => Err(unknown()),
        },
    }
}

fn unknown() -> A2aError {
    A2aError::new(ErrorKind::Method, "There is no such operation: see the paths of A2A 1.0, such as POST /message:send")
}

fn json_body(body: &[u8]) -> Result<Value, A2aError> {
    if json_memory::has_more_values(body, MAX_VALUES) {
        return Err(A2aError::new(ErrorKind::TooLarge, format!("The body has more than {MAX_VALUES} JSON values")));
    }
    match body {
        b"" => Ok(json!({})),
        body => serde_json::from_slice(body).map_err(|_| A2aError::new(ErrorKind::Parse, "Invalid JSON payload")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: Method, path: &str) -> Result<Operation, ErrorKind> {
        read(&method, path, &Query::default(), b"").map_err(|error| error.kind)
    }

    #[test]
    fn paths_are_operations() {
        assert!(matches!(asked(Method::GET, "tasks"), Ok(Operation::List(_))));
        assert!(matches!(asked(Method::GET, "tasks/t1"), Ok(Operation::Get { task, .. }) if task == "t1"));
        assert!(matches!(asked(Method::POST, "tasks/t1:cancel"), Ok(Operation::Cancel { task }) if task == "t1"));
        for method in [Method::GET, Method::POST] {
            assert!(matches!(asked(method, "tasks/t1:subscribe"), Ok(Operation::Subscribe { task }) if task == "t1"));
        }
        assert!(matches!(asked(Method::POST, "tasks/t/pushNotificationConfigs"), Ok(Operation::Push)));
        assert!(matches!(asked(Method::DELETE, "tasks/t/pushNotificationConfigs/c"), Ok(Operation::Push)));
        assert!(matches!(asked(Method::GET, "extendedAgentCard"), Ok(Operation::ExtendedCard)));
    }

    #[test]
    fn other_paths_and_methods_are_unknown() {
        let unknown = [
            (Method::GET, "message:send"),
            (Method::POST, "tasks/t1"),
            (Method::GET, "tasks/"),
            (Method::GET, "tasks/t/other"),
            (Method::DELETE, "tasks/t/pushNotificationConfigs"),
            (Method::GET, "tenant/tasks"),
        ];
        for (method, path) in unknown {
            assert!(matches!(asked(method, path), Err(ErrorKind::Method)), "{path}");
        }
    }

    #[test]
    fn a_message_without_a_body_is_refused() {
        assert_eq!(asked(Method::POST, "message:send").unwrap_err(), ErrorKind::Params);
        let broken = read(&Method::POST, "message:stream", &Query::default(), b"{").unwrap_err();
        assert_eq!(broken.kind, ErrorKind::Parse);
    }
}
