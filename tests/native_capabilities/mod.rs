//! Native capabilities: Rust closures over types.

mod binary;
mod failures;
mod settings;
mod types;

use agent_spaces::{Capability, Space, SpaceBuilder};
use agent_spaces_tests::builder;

/// A space with these capabilities.
fn space(capabilities: impl IntoIterator<Item = Capability>) -> Space {
    capabilities.into_iter().fold(builder(), SpaceBuilder::capability).build().unwrap()
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
