//! Files, network and limits of a space, and the manifest of a script with them.

use crate::spaces::SpaceModules;
use agent_spaces_policy::{FilePolicy, Policy};
use agent_spaces_space::manifest::Manifest;
use agent_spaces_types::limits::Limits;
use serde_json::{Value, json};

/// Files, network and limits of a space.
pub struct SpaceReach {
    policy: Policy,
    workspace: Option<String>,
    limits: Limits,
}

impl SpaceReach {
    /// Collects them.
    pub fn of(modules: &SpaceModules<'_>, limits: Limits) -> SpaceReach {
        let workspace = modules.workspace().map(|folder| folder.display().to_string());
        SpaceReach { policy: modules.policy(), workspace, limits }
    }

    /// Returns the policy of its calls, files and network.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns its workspace folder.
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// Returns the limits of its runs.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the files as JSON.
    pub fn files_json(&self) -> Value {
        let FilePolicy { read, write, max_file_bytes, max_total_bytes } = self.policy.files();
        json!({
            "workspace": self.workspace, "read": read, "write": write, "maxFileBytes": max_file_bytes,
            "maxTotalBytes": max_total_bytes,
        })
    }

    /// Returns the network as JSON.
    pub fn network_json(&self) -> Value {
        let network = self.policy.network();
        let domains: Vec<String> = network.domains.iter().map(ToString::to_string).collect();
        json!({ "enabled": network.enabled, "domains": domains, "methods": network.methods })
    }

    /// Returns the limits as JSON.
    pub fn limits_json(&self) -> Value {
        let Limits { time, memory, calls, fuel, .. } = self.limits;
        json!({ "timeMs": time.as_millis() as u64, "memoryBytes": memory, "calls": calls, "fuel": fuel })
    }

    /// Returns the manifest of a script as JSON, with the files and the network if it uses them.
    pub fn manifest_json(&self, manifest: &Manifest) -> Value {
        let mut value = json!(manifest);
        value["limits"] = self.limits_json();
        if manifest.uses_standard("fs") {
            value["files"] = self.files_json();
        }
        if manifest.uses_standard("http") {
            value["network"] = self.network_json();
        }
        value
    }
}
