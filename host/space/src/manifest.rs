//! Manifest of a script: the functions that it can call, with their providers and policy decisions, before it runs.

use agent_spaces_calls::handlers::Handlers;
use agent_spaces_pipeline::Rules;
use agent_spaces_policy::{Decision, FunctionId};
use agent_spaces_sandbox::program::Program;
use agent_spaces_types::function::{FunctionDescription, InterfaceDescription, function_id, label};
use agent_spaces_types::provider_kind::ProviderKind;
use agent_spaces_types::run_error::Location;
use agent_spaces_types::standard;
use serde::Serialize;

/// Functions that a script can call. It cannot call any other.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Manifest {
    /// Name of the script.
    pub script: String,
    /// Interfaces that it is linked with.
    pub interfaces: Vec<ManifestInterface>,
}

/// Interface in a manifest.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ManifestInterface {
    /// Full name: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub interface: String,
    /// Functions of the interface.
    pub functions: Vec<ManifestFunction>,
}

/// Provider of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestProvider {
    /// Kind of provider.
    pub kind: ProviderKind,
    /// Description for people.
    pub description: String,
}

/// Function in a manifest.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestFunction {
    /// Name as scripts call it: `trainSchedule.getSchedule`.
    pub function: String,
    /// Identity: its interface, and its name there.
    pub function_id: FunctionId,
    /// Provider that answers it.
    pub provider: ManifestProvider,
    /// Policy decision about its calls: `allow`, `approve` or `deny`.
    pub decision: Decision,
    /// Rule behind the decision.
    pub because: String,
    /// Further conditions, one per line: argument rules, counts, rate limits, and how calls are made.
    pub terms: Vec<String>,
    /// Locations where the script names it, if the manifest is of a script. Calls through another name are not listed.
    pub named_at: Vec<Location>,
}

/// Builds the manifest of a program.
pub fn manifest(program: &Program, handlers: &Handlers, rules: &Rules) -> Manifest {
    let named_at = |module: &str, label: &str| {
        let sites = program.call_sites().filter(|site| site.module == module && site.path == label);
        sites.map(|site| site.location.clone()).collect()
    };
    let interfaces = reach(&program.sandbox().description().interfaces, handlers, rules, named_at);
    Manifest { script: program.name().to_owned(), interfaces }
}

/// Lists the functions of these interfaces.
pub fn reach(
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
    /// Returns true if the script is linked with this part of the standard library, such as `fs`.
    pub fn uses_standard(&self, part: &str) -> bool {
        self.interfaces.iter().any(|interface| standard::is_part(&interface.interface, part))
    }
}
