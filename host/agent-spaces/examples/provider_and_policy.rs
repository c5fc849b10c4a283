//! Own provider of a WIT interface, under a policy that denies one function and requires approval of another.
//!
//! `cargo run --release -p agent-spaces --example provider_and_policy`

use agent_spaces::approvals::{Answer, Channel, Decision, Request};
use agent_spaces::policy::Policy;
use agent_spaces::{
    Answering, Call, CapabilityError, Engine, EngineConfig, Handlers, Interfaces, Limits, Provider, ProviderKind,
    RunOptions, Space, config,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const WIT: &str = "
    package capabilities:mail@1.0.0;
    interface mail {
        use agent-spaces:host/types@0.1.0.{capability-error};
        record message { to: string, text: string }
        send: async func(message: message) -> result<string, capability-error>;
        delete-all: async func() -> result<u32, capability-error>;
    }
";

/// Provider of all functions of the interface. A real one forwards calls to another system.
struct Mail;

impl Provider for Mail {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Native
    }

    fn description(&self) -> String {
        "mail server of the example".to_owned()
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move {
            match &*call.function {
                "send" => Ok(json!(format!("sent to {}", call.params["to"].as_str().unwrap_or_default()))),
                name => Err(CapabilityError::failed(format!("{name} is not implemented"))),
            }
        })
    }
}

/// Channel that approves every request. A real one asks a person, out of reach of scripts.
struct Approver;

impl Channel for Approver {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        println!("Approving {} with {}", request.label(), request.params);
        Box::pin(async { Ok(Decision::approve("ada")) })
    }
}

const SCRIPT: &str = "
    import { mail } from '@capabilities/mail';

    const attempt = async (call) => { try { return await call(); } catch (error) { return error.code; } };
    export default {
        send: await attempt(() => mail.send({ to: 'grace@example.com', text: 'Hello' })),
        deleteAll: await attempt(() => mail.deleteAll()),
    };
";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut interfaces = Interfaces::new()?;
    interfaces.add("mail.wit", WIT)?;
    let mut handlers = Handlers::new();
    handlers.provide("capabilities:mail/mail@1.0.0", Arc::new(Mail));
    let rules = json!({ "policy": { "functions": { "mail.send": "approve", "mail.deleteAll": "deny" } } });
    let policy = Policy::new(config::from_value("policy", rules)?.policy);

    let engine = Engine::new(EngineConfig::default())?;
    let space = Space::builder(&engine)
        .interfaces(interfaces, handlers)
        .policy(policy)
        .approval_channel(Arc::new(Approver))
        .operator(|notice| eprintln!("Operator: {notice}"))
        .limits(Limits { time: Duration::from_secs(5), ..Limits::default() })
        .build()?;
    let program = space.prepare("agent.ts", SCRIPT)?;
    let report = program.run(RunOptions::default()).await;
    println!("{:#}", report.outcome?);
    Ok(())
}
