//! Untyped baseline of a call: JSON text each way, through one import of bare wasmtime.

use crate::bare::{Bare, CapabilityError};
use agent_spaces::Interfaces;
use anyhow::Result;
use serde_json::{Value, json};
use wasmtime::component::Linker;

const INTERFACE: &str = "capabilities:text/text@1.0.0";
const WIT: &str = "package capabilities:text@1.0.0;
    interface text {
        use agent-spaces:host/types@0.1.0.{capability-error};
        call: async func(params: string) -> result<string, capability-error>;
    }";

/// Script with this many calls, serialized and parsed on both sides.
pub(crate) fn bare(calls: usize) -> Result<Bare> {
    let script = format!(
        "import {{ text }} from '@capabilities/text';
         const note = async (params) => JSON.parse(await text.call(JSON.stringify(params)));
         let answered = 0;
         for (let i = 0; i < {calls}; i++) answered += (await note({{ text: 'four', count: i }})).text === 'four';
         export default answered;"
    );
    let mut interfaces = Interfaces::new()?;
    interfaces.add("text.wit", WIT)?;
    Bare::with(&script, &interfaces, |linker: &mut Linker<()>| {
        linker.instance(INTERFACE)?.func_wrap_concurrent("call", |_, (params,): (String,)| {
            Box::pin(async move {
                let params: Value = serde_json::from_str(&params)?;
                let answer = json!({ "text": params["text"], "count": params["count"] });
                Ok((Ok::<_, CapabilityError>(answer.to_string()),))
            })
        })?;
        Ok(())
    })
}
