//! What a script can reach, and what will become of its calls, before it runs.

use crate::error_report::Location;
use crate::handlers::Handlers;
use crate::pipeline::Rules;
use crate::program::Program;
use crate::providers::ProviderKind;
use crate::sandbox::{FunctionDescription, InterfaceDescription, function_id, label};
use crate::standard;
use agent_spaces_policy::{Decision, FunctionId};
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

/// What answers a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestProvider {
    /// Which kind of thing.
    pub kind: ProviderKind,
    /// Which one, in words.
    pub description: String,
}

/// One function.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestFunction {
    /// As scripts call it: `trainSchedule.getSchedule`.
    pub function: String,
    /// Which function it is: its interface, and its name there.
    pub function_id: FunctionId,
    /// What answers it.
    pub provider: ManifestProvider,
    /// What becomes of calls of it: `allow`, `approve` or `deny`.
    pub decision: Decision,
    /// Which rule says so.
    pub because: String,
    /// What else holds for calls of it, a line each: bounds of arguments, counts and rates, and how calls are made.
    pub terms: Vec<String>,
    /// Where the script names it, if this is about a script. It may call it elsewhere too, by another name.
    pub named_at: Vec<Location>,
}

/// What a program can reach.
pub(crate) fn manifest(program: &Program, handlers: &Handlers, rules: &Rules) -> Manifest {
    let named_at = |module: &str, label: &str| {
        let sites = program.call_sites().filter(|site| site.module == module && site.path == label);
        sites.map(|site| site.location.clone()).collect()
    };
    let interfaces = reach(&program.sandbox().description().interfaces, handlers, rules, named_at);
    Manifest { script: program.name().to_owned(), interfaces }
}

/// What can be reached through these interfaces.
pub(crate) fn reach(
    interfaces: &[InterfaceDescription],
    handlers: &Handlers,
    rules: &Rules,
    named_at: impl Fn(&str, &str) -> Vec<Location>,
) -> Vec<ManifestInterface> {
    let function = |interface: &InterfaceDescription, each: &FunctionDescription| {
        let function = label(interface, each);
        let id = function_id(interface, each);
        let policy = rules.of(&id, &function, each.spec.as_deref());
        let decided = policy.decision();
        let (kind, description) = handlers.describe(&interface.name, &each.shape.name);
        ManifestFunction {
            provider: ManifestProvider { kind, description },
            decision: decided.decision,
            because: decided.because.to_string(),
            terms: policy.terms(),
            named_at: named_at(&interface.module, &function),
            function_id: id,
            function: function.to_string(),
        }
    };
    let described = |interface: &InterfaceDescription| ManifestInterface {
        interface: interface.name.clone(),
        functions: interface.functions.iter().map(|each| function(interface, each)).collect(),
    };
    interfaces.iter().map(described).collect()
}

impl Manifest {
    /// Whether it is linked with a part of the standard library: `fs`.
    pub fn uses_standard(&self, part: &str) -> bool {
        self.interfaces.iter().any(|interface| standard::is_part(&interface.interface, part))
    }
}
