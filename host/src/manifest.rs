//! What a script can reach, and what will become of its calls, before it runs.

use crate::error_report::Location;
use crate::pipeline::Rules;
use crate::program::Program;
use crate::sandbox::{FunctionDescription, InterfaceDescription, label};
use agent_spaces_policy::Decision;
use serde::Serialize;

/// What a script can reach. What is not in here it cannot call, whatever it does.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The script.
    pub script: String,
    /// The interfaces that it is linked with.
    pub interfaces: Vec<ManifestInterface>,
}

/// One interface.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestInterface {
    /// Its full name: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub interface: String,
    /// Its functions.
    pub functions: Vec<ManifestFunction>,
}

/// One function.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestFunction {
    /// As scripts call it: `trainSchedule.getSchedule`.
    pub function: String,
    /// What becomes of calls of it: `allow`, `approve` or `deny`.
    pub decision: Decision,
    /// Which rule says so.
    pub because: String,
    /// Where the script names it. It may call it elsewhere too, by another name.
    pub named_at: Vec<Location>,
}

pub(crate) fn manifest(program: &Program, rules: &Rules) -> Manifest {
    let functions = |interface: &InterfaceDescription| {
        let function = |each: &FunctionDescription| {
            let function = label(interface, each);
            let policy = rules.of(&function, &interface.name, each.spec.as_deref());
            let decided = policy.decision();
            let sites = program.call_sites().filter(|site| site.path == *function);
            ManifestFunction {
                decision: decided.decision,
                because: decided.because.to_string(),
                named_at: sites.map(|site| site.location.clone()).collect(),
                function: function.to_string(),
            }
        };
        interface.functions.iter().map(function).collect()
    };
    let interfaces = program
        .sandbox()
        .description()
        .interfaces
        .iter()
        .map(|interface| ManifestInterface { interface: interface.name.clone(), functions: functions(interface) });
    Manifest { script: program.name().to_owned(), interfaces: interfaces.collect() }
}

impl Manifest {
    /// Whether it is linked with an interface of the standard library: `fs`.
    pub fn uses_standard(&self, name: &str) -> bool {
        let full = format!("agent-spaces:std/{name}@1.0.0");
        self.interfaces.iter().any(|interface| interface.interface == full)
    }
}
