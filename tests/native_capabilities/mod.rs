//! Native capabilities: Rust closures over types.

mod binary;
mod failures;
mod settings;
mod types;

use agent_spaces::{Capability, Handlers, Interfaces, Space};
use agent_spaces_tests::engine;

/// A space with these capabilities.
fn space(capabilities: impl IntoIterator<Item = Capability>) -> Space {
    let (mut interfaces, mut handlers) = (Interfaces::new().unwrap(), Handlers::new());
    for capability in capabilities {
        capability.add_to(&mut interfaces, &mut handlers).unwrap();
    }
    Space::new(engine(), interfaces, handlers).unwrap()
}

/// A script with `attempt`, which returns the value or the error of a call.
fn script(module: &str, body: &str) -> String {
    format!(
        "import {{ {module} }} from '@capabilities/{module}';
        const attempt = async (work) => {{
            try {{ return {{ value: (await work()) ?? null }}; }}
            catch (error) {{
                const {{ code, message, details = null, retryable = false }} = error;
                return {{ code, message, details, retryable }};
            }}
        }};
        {body}"
    )
}
