//! Settings of native functions, and the call context of a closure.

use super::{script, space};
use agent_spaces::approvals::{Answer, Channel, ChannelError, Request};
use agent_spaces::{Caller, Capability, CapabilityError, EventKind, Limits, NativeFunction, ProviderKind};
use agent_spaces_tests::{run_with_events, value};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

#[derive(Deserialize, JsonSchema)]
struct Ticket {
    title: String,
}

fn crm() -> Capability {
    let answer = |ticket: Ticket| async move { Ok::<_, CapabilityError>(ticket.title) };
    Capability::new("crm")
        .function_with(
            NativeFunction::new("create", "Creates a ticket")
                .title("Create")
                .requires_approval()
                .approval_message("Create {{title}}?"),
            move |ticket: Ticket, _call| answer(ticket),
        )
        .function_with(
            NativeFunction::new("close", "Closes a ticket").scope("crm.write").scope("crm.close"),
            move |ticket: Ticket, _call| answer(ticket),
        )
        .function_with(
            NativeFunction::new("rush", "May be called twice a minute").requests_per_minute(2).read_only(),
            move |ticket: Ticket, _call| answer(ticket),
        )
        .function_with(NativeFunction::new("who", "Who calls"), |(): (), call| async move {
            call.progress.tell(1.0, Some(2.0), Some("half".to_owned()));
            let count = call.scope.get_or_insert("count", || Mutex::new(0_u32));
            *count.lock().map_err(|_| "locked")? += 1;
            let told =
                json!([!call.run_id.is_empty(), call.function, call.source_name, *count.lock().map_err(|_| "locked")?]);
            Ok::<Value, CapabilityError>(told)
        })
}

/// Unavailable approver that records its requests.
#[derive(Default)]
struct RefusingApprover(Mutex<Vec<String>>);

impl Channel for RefusingApprover {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        self.0.lock().unwrap().push(request.message.to_string());
        Box::pin(async { Err(ChannelError::Nobody("nobody is there".into())) })
    }
}

#[tokio::test]
async fn a_function_that_requires_approval_is_not_called_without_it() {
    let space = space([crm()]);
    let approver = Arc::new(RefusingApprover::default());
    space.approvals().ask(approver.clone());
    let source = script("crm", "export default await attempt(() => crm.create({ title: 'T1' }))");
    assert_eq!(value(&space, &source).await["code"], "call.approval_denied");
    assert_eq!(*approver.0.lock().unwrap(), ["Create T1?"]);
    space.approvals().approve(space.identify("crm.create").unwrap());
    assert_eq!(value(&space, &source).await, json!({ "value": "T1" }));
}

#[tokio::test]
async fn callers_need_all_scopes() {
    let space = space([crm()]);
    let call = async |scopes: &[&str]| {
        let caller = Caller { scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(), ..Caller::default() };
        space.call_value("crm", "close", json!({ "title": "T1" }), caller).await.map_err(|error| error.code)
    };
    assert_eq!(call(&["crm.write", "crm.close"]).await, Ok(json!("T1")));
    for scopes in [&[][..], &["crm.write"]] {
        assert_eq!(call(scopes).await, Err("call.denied".to_owned()));
    }
}

#[tokio::test]
async fn a_rate_limit_applies() {
    let space = space([crm()]);
    let body = "const rush = () => attempt(() => crm.rush({ title: 'T' }));
        export default [await rush(), await rush(), await rush()].map((each) => each.code ?? each.value)";
    assert_eq!(value(&space, &script("crm", body)).await, json!(["T", "T", "call.rate_limited"]));
}

#[tokio::test]
async fn a_closure_sees_its_call_and_reports_progress() {
    let space = space([crm()]);
    let source = script("crm", "await crm.who(); export default await crm.who()");
    let (report, events) = run_with_events(&space, &source, Limits::default()).await;
    assert_eq!(report.outcome.unwrap(), json!([true, "who", "who", 2]));
    let told: Vec<&EventKind> =
        events.iter().map(|event| &event.kind).filter(|kind| matches!(kind, EventKind::CallProgress { .. })).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(matches!(told[0], EventKind::CallProgress { message: Some(text), .. } if text == "half"));
}

#[test]
fn the_audit_shows_the_native_provider() {
    let reach = space([crm()]).reach().unwrap();
    let functions = reach.iter().flat_map(|interface| &interface.functions);
    for function in functions {
        assert_eq!(function.provider.kind, ProviderKind::Native);
        assert_eq!(function.provider.description, "crm in Rust of the host");
    }
}
