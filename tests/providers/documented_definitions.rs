//! Definitions of the documentation as printed, with a test server in place of their APIs.
//!
//! The tests add what the documentation leaves out: the types `Trip`, `TrainDetails`, `Customer` and `Ticket` (which the
//! examples have), `crmApi`, and a `fetch` that sends requests for the API to the test's server. With
//! `AGENT_SPACES_TSC` the definitions and the scripts are checked by the real compiler in `tests/typescript`.

use crate::standard::support::{Project, Reply, Site};
use serde_json::{Value, json};

const TRAINS: &str = include_str!("../../examples/train-schedule-typescript/capabilities/train-schedule.ts");
const CRM: &str = include_str!("../../examples/company-crm/capabilities/company-crm.ts");
const CRM_AGENT: &str = include_str!("../../examples/company-crm/agent.ts");

/// The definition alone, up to the example's replacement for its API.
fn printed(text: &str) -> &str {
    text.split("// Stands for").next().unwrap()
}

fn site() -> Site {
    Site::start(|request| {
        let answer = |value: Value| Reply::Whole(200, "application/json", value.to_string().into_bytes());
        let key = request.header("authorization") == Some("Bearer sk-desk-0123456789");
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let trip = json!({ "id": "IC-1", "hour": 7, "minute": 5, "destination": "Springfield", "platform": query });
        match (request.method.as_str(), path) {
            ("GET", "/schedule") => answer(json!([trip])),
            ("GET", "/trains/IC-1") => {
                answer(json!({ "id": "IC-1", "operator": "Northern", "stops": ["Shelbyville"] }))
            }
            ("GET", "/customers") if key => answer(json!([{ "id": "cus_1", "name": "Acme Corp" }])),
            ("POST", "/tickets") if key => {
                let mut ticket: Value = serde_json::from_slice(&request.body).unwrap();
                ticket["id"] = json!("tkt_9");
                answer(ticket)
            }
            _ => Reply::Whole(404, "text/plain", b"nothing here".to_vec()),
        }
    })
}

fn project(name: &str, definition: &str, site: &Site, env: Value) -> Project {
    let project = Project::empty();
    project.write(&format!("capabilities/{name}.ts"), definition);
    let http = json!({ "domains": ["localhost"], "private": ["localhost"] });
    let mut env = env;
    env["API"] = json!(site.url(""));
    project.configure(json!({
        "capabilities": { "global": [format!("./capabilities/{name}.ts")] },
        "providers": { format!("@capabilities/{name}"): { "env": env, "public": ["API"], "http": http } },
    }));
    project.trust();
    project
}

#[test]
fn the_train_schedule_example_calls_its_server() {
    let site = site();
    let definition = format!("{}\nimport {{ fetch }} from './server';", printed(TRAINS));
    let project = project("train-schedule", &definition, &site, json!({}));
    let server = "const here = (address: string) => fetch(address.replace('https://api.trains.com', process.env.API));
        export { here as fetch };";
    project.write("capabilities/server.ts", server);
    let script = "import { trainSchedule } from '@capabilities/train-schedule';
        const trips = await trainSchedule.getSchedule({ station: 'Central', date: '2026-11-15' });
        export default [trips, await trainSchedule.getTrainDetails({ trainId: trips[0].id })];";
    let done = project.run_with(script, &["--json"]);
    let value = done.value();
    assert_eq!(value[0][0]["platform"], "station=Central&date=2026-11-15", "{done:?}");
    assert_eq!(value[1]["operator"], "Northern");
    assert_eq!(site.paths().len(), 2);
}

#[test]
fn the_company_example_calls_its_server_with_its_key_after_approval() {
    let site = site();
    let supplied = "const call = async (path: string, init: any = {}) => (await fetch(`${process.env.API}${path}`,
            { ...init, headers: { authorization: `Bearer ${process.env.CRM_KEY}` } })).json();
        const crmApi = {
            search: (query: string, limit: number) => call(`/customers?q=${encodeURIComponent(query)}&limit=${limit}`),
            createTicket: (params: any) => call('/tickets', { method: 'POST', body: JSON.stringify(params) }),
        };
        declare const process: { env: Record<string, string> };";
    let env = json!({ "CRM_KEY": "sk-desk-0123456789" });
    let project = project("company-crm", &format!("{}\n{supplied}", printed(CRM)), &site, env);
    let script = format!("{CRM_AGENT}\nexport default ticket;");
    let denied = project.run_with(&script, &["--json"]);
    assert_eq!(denied.error().0, "call.approval_denied", "{denied:?}");
    assert_eq!(site.paths(), ["/customers?q=acme%20corp&limit=10"], "nothing was created");
    let done = project.run_with(&script, &["--json", "--approve", "crm.createTicket"]);
    let ticket = json!({ "id": "tkt_9", "customerId": "cus_1", "subject": "Integration issue", "priority": "high" });
    assert_eq!(done.value(), ticket, "{done:?}");
    assert!(!done.stdout.contains("sk-desk") && !done.stderr.contains("sk-desk"));
}
