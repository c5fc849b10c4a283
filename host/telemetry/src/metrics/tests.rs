use super::*;
use agent_spaces_types::code::Code;
use agent_spaces_types::event::Parent;
use agent_spaces_types::identity::FunctionId;
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::usage::Usage;
use serde_json::json;

fn event(run_id: &str, kind: EventKind) -> Event {
    let timestamp = "2026-11-17T00:00:00.000Z".to_owned();
    Event { kind, timestamp, run_id: run_id.into(), seq: 0, caller: None, parent: None }
}

fn scheduled(call_id: u64, function: &str) -> EventKind {
    EventKind::CallScheduled {
        call_id,
        interface: "capabilities:train-schedule/train-schedule@1.0.0".into(),
        function_id: FunctionId::new("capabilities:train-schedule/train-schedule", "get-schedule"),
        capability: "trainSchedule".into(),
        function: function.into(),
        params: json!({ "secret": "argument" }),
        sent: None,
    }
}

fn answered(call_id: u64) -> EventKind {
    EventKind::CallResult { call_id, duration_ms: 1.5, cached: false }
}

fn finished(code: Option<&str>) -> EventKind {
    let error = code.map(|code| RunError { code: code.to_owned(), ..RunError::new(Code::ScriptError, "text") });
    let usage = Usage { fuel: 250_000, memory_bytes: 2 << 20, wall_ms: 12.5, ..Usage::default() };
    EventKind::RunFinished { ok: error.is_none(), error, usage }
}

fn readings() -> Readings {
    let server = |name: &str, is_up| ServerHealth { name: name.to_owned(), is_up };
    Readings {
        runs_queued: Some(4),
        runs_executing: None,
        places: Some(8),
        runs_waiting: Some(4),
        longest_wait: Some(std::time::Duration::from_millis(1_500)),
        hosts: None,
        runs_parked: Some(5_000),
        approvals_waiting: Some(2),
        journal_flushes: Some(17),
        servers: vec![server("slack", true), server("ti\"me", false)],
    }
}

fn metrics_of_a_run() -> Metrics {
    let metrics = Metrics::new(readings);
    let (code, message) = ("call.unavailable".to_owned(), "text".to_owned());
    let approved = EventKind::ApprovalDecided {
        approval_id: "apr_1".to_owned(),
        call_id: 1,
        decision: "approve",
        reason: Some("text".to_owned()),
        by: Some("text".to_owned()),
    };
    let repeated = EventKind::CallRepeated { call_id: 1, repetition: 1, code, message };
    for kind in [scheduled(1, "getSchedule"), approved, repeated, answered(1), finished(Some("limit.fuel"))] {
        metrics.observe(&event("run_1", kind));
    }
    metrics
}

#[test]
fn a_run_is_counted_as_expected() {
    assert_eq!(metrics_of_a_run().encode(), include_str!("expected.txt"));
}

#[test]
fn the_older_format_declares_counters_by_the_names_of_their_samples() {
    let text = metrics_of_a_run().encode_as(Format::Prometheus);
    assert!(text.contains(
        "# HELP agent_spaces_runs_total Runs that ended, by outcome.\n# TYPE agent_spaces_runs_total counter\n\
         agent_spaces_runs_total{outcome=\"limit.fuel\"} 1\n"
    ));
    assert!(!text.contains("# UNIT") && !text.contains("# EOF"), "{text}");
    let samples =
        |text: &str| text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(samples(&text), samples(include_str!("expected.txt")));
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        assert_eq!(line.ends_with(" counter"), name.ends_with("_total"), "{name}");
        assert!(text.contains(&format!("# HELP {name} ")), "{name} has no help");
    }
}

#[test]
fn the_format_is_chosen_by_what_is_accepted() {
    let prometheus = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    assert_eq!(Format::accepted(Some(prometheus)), Format::OpenMetrics);
    assert_eq!(Format::accepted(Some("text/plain")), Format::Prometheus);
    assert_eq!(Format::accepted(None), Format::Prometheus);
}

#[test]
fn functions_beyond_the_bound_share_a_label() {
    let metrics = Metrics::new(Readings::default);
    let calls = MAX_FUNCTIONS as u64 + 50;
    for call_id in 0..calls {
        metrics.observe(&event("run_1", scheduled(call_id, &format!("f{call_id}"))));
        metrics.observe(&event("run_1", answered(call_id)));
    }
    let text = metrics.encode();
    let series = text.lines().filter(|line| line.starts_with("agent_spaces_calls_total")).count();
    assert_eq!(series, MAX_FUNCTIONS + 1);
    assert!(text.contains("agent_spaces_calls_total{function=\"other\",outcome=\"ok\"} 50\n"), "{text}");
}

#[test]
fn codes_of_providers_share_a_label() {
    let metrics = Metrics::new(Readings::default);
    for (call_id, code) in [(1, "customer 4711"), (2, "customer 4712"), (3, "call.denied")] {
        let (code, message) = (code.to_owned(), "text".to_owned());
        metrics.observe(&event("run_1", scheduled(call_id, "f")));
        metrics.observe(&event("run_1", EventKind::CallError { call_id, duration_ms: 1.0, code, message }));
    }
    metrics.observe(&event("run_1", finished(Some("customer 4711"))));
    let text = metrics.encode();
    assert!(!text.contains("4711"), "{text}");
    assert!(text.contains("{function=\"trainSchedule.f\",outcome=\"other\"} 2\n"), "{text}");
    assert!(text.contains("{function=\"trainSchedule.f\",outcome=\"call.denied\"} 1\n"), "{text}");
    assert!(text.contains("agent_spaces_runs_total{outcome=\"other\"} 1\n"), "{text}");
}

#[test]
fn a_call_that_another_process_began_has_no_function() {
    let metrics = Metrics::new(Readings::default);
    metrics.observe(&event("run_1", answered(7)));
    assert!(metrics.encode().contains("agent_spaces_calls_total{function=\"other\",outcome=\"ok\"} 1\n"));
}

#[test]
fn nested_runs_are_not_counted_as_runs() {
    let metrics = Metrics::new(Readings::default);
    let parent = Some(Parent { run_id: "run_1".into(), call_id: 1 });
    metrics.observe(&Event { parent, ..event("run_2", finished(None)) });
    assert!(!metrics.encode().contains("agent_spaces_runs_total"));
    metrics.observe(&event("run_1", finished(None)));
    assert!(metrics.encode().contains("agent_spaces_runs_total{outcome=\"ok\"} 1\n"));
}

#[test]
fn a_process_is_saturated_when_runs_wait() {
    let saturation = |places, executing, waiting| {
        let readings = Readings {
            places: Some(places),
            runs_executing: Some(executing),
            runs_waiting: Some(waiting),
            ..Readings::default()
        };
        let text = Metrics::new(move || readings.clone()).encode();
        let line = text.lines().find_map(|line| line.strip_prefix("agent_spaces_saturation "));
        line.map(|number| number.parse::<f64>().unwrap())
    };
    assert_eq!((saturation(10, 0, 0), saturation(10, 5, 0), saturation(10, 10, 15)), (Some(0.0), Some(0.5), Some(2.5)));
    assert_eq!(saturation(0, 5, 5), None);
    assert!(!Metrics::new(Readings::default).encode().contains("saturation"), "it has no places");
}
