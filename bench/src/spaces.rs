//! Spaces and engines used by measurements.

use agent_spaces::{Engine, EngineConfig, Handlers, Interfaces, Space};
use anyhow::Result;
use serde_json::{Value, json};

/// A schedule of trains, as in the examples.
pub(crate) const TRAINS: &str = "
    package capabilities:trains@1.0.0;
    interface trains {
        use agent-spaces:host/types@0.1.0.{capability-error, json};
        record params { count: u32 }
        record trip { id: string, hour: s64, minute: s64, destination: string, platform: option<string> }
        get: async func(params: params) -> result<list<trip>, capability-error>;
        get-json: async func(params: params) -> result<json, capability-error>;
        wait: async func() -> result<u32, capability-error>;
    }";

const INTERFACE: &str = "capabilities:trains/trains@1.0.0";

/// Fresh engine without a code cache.
pub(crate) fn engine() -> Result<Engine> {
    engine_with(EngineConfig::default())
}

/// The same with other settings.
pub(crate) fn engine_with(config: EngineConfig) -> Result<Engine> {
    Ok(Engine::new(config)?)
}

/// A space without capabilities.
pub(crate) fn empty(engine: &Engine) -> Result<Space> {
    Ok(Space::builder(engine).build()?)
}

/// A space with trains; `wait` never answers.
pub(crate) fn trains(engine: &Engine) -> Result<Space> {
    let mut interfaces = Interfaces::new()?;
    interfaces.add("trains.wit", TRAINS)?;
    let mut handlers = Handlers::new();
    for function in ["get", "get-json"] {
        handlers.add(INTERFACE, function, |call| async move { Ok(trips(call.params["count"].as_u64().unwrap_or(0))) });
    }
    handlers.add(INTERFACE, "wait", |_| async { std::future::pending().await });
    Ok(Space::builder(engine).interfaces(interfaces, handlers).build()?)
}

fn trips(count: u64) -> Value {
    let trip = |i| json!({ "id": format!("t{i}"), "hour": i % 24, "minute": i % 60, "destination": "Springfield", "platform": "4a" });
    (0..count).map(trip).collect()
}
