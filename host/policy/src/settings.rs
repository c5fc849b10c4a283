//! Policy settings as configured, and merging a space's settings over the global ones.

use crate::domains::DomainPattern;
use crate::preset::Preset;
use crate::rate::Rate;
use crate::rule::Rule;
use agent_spaces_types::canonical;
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

/// Default time until an approval request expires.
pub(crate) const APPROVALS_EXPIRE: Duration = Duration::from_secs(10 * 60);

/// Policy settings; the preset supplies what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Defaults.
    pub preset: Option<Preset>,
    /// File access.
    pub fs: FileSettings,
    /// Network access.
    pub http: NetworkSettings,
    /// Rules over functions, all of which apply.
    pub functions: Vec<Rule>,
    /// Rate limit of all functions together.
    pub rate_limit: Option<Rate>,
    /// Approval requests.
    pub approvals: ApprovalSettings,
    /// From an untrusted file: may only tighten the defaults.
    pub only_tightens: bool,
}

/// File access settings; see [`FilePolicy`](crate::FilePolicy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the members of the policy")]
pub struct FileSettings {
    pub read: Option<bool>,
    pub write: Option<bool>,
    pub max_file_bytes: Option<u64>,
    pub max_total_bytes: Option<u64>,
}

/// Network access settings; see [`NetworkPolicy`](crate::NetworkPolicy).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the members of the policy")]
pub struct NetworkSettings {
    pub enabled: Option<bool>,
    pub domains: Option<Vec<DomainPattern>>,
    pub blocked: Option<Vec<DomainPattern>>,
    /// Hosts that may resolve to a private address.
    pub private: Option<Vec<DomainPattern>>,
    pub methods: Option<Vec<String>>,
    pub max_response_bytes: Option<u64>,
    pub max_request_bytes: Option<u64>,
    pub timeout: Option<Duration>,
}

/// Settings for approvals; see [`ApprovalPolicy`](crate::ApprovalPolicy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the members of the policy")]
pub struct ApprovalSettings {
    pub expires: Option<Duration>,
    pub counts_time: Option<bool>,
    pub max_pending: Option<u32>,
}

impl Settings {
    /// Merges these settings over `base`: member by member, lists replaced whole. Rules are added to those of `base`,
    /// and all apply.
    pub fn over(&self, base: &Settings) -> Settings {
        Settings {
            preset: self.preset.or(base.preset),
            fs: self.fs.over(&base.fs),
            http: self.http.over(&base.http),
            functions: base.functions.iter().chain(&self.functions).cloned().collect(),
            rate_limit: self.rate_limit.or(base.rate_limit),
            approvals: self.approvals.over(&base.approvals),
            only_tightens: self.only_tightens || base.only_tightens,
        }
    }

    /// Returns the SHA-256 of the settings as canonical JSON, in hexadecimal. The locations of rules do not count.
    pub fn digest(&self) -> String {
        canonical::hash(&json!(self))
    }
}

impl FileSettings {
    fn over(&self, base: &FileSettings) -> FileSettings {
        FileSettings {
            read: self.read.or(base.read),
            write: self.write.or(base.write),
            max_file_bytes: self.max_file_bytes.or(base.max_file_bytes),
            max_total_bytes: self.max_total_bytes.or(base.max_total_bytes),
        }
    }
}

impl NetworkSettings {
    fn over(&self, base: &NetworkSettings) -> NetworkSettings {
        NetworkSettings {
            enabled: self.enabled.or(base.enabled),
            domains: self.domains.clone().or_else(|| base.domains.clone()),
            blocked: self.blocked.clone().or_else(|| base.blocked.clone()),
            private: self.private.clone().or_else(|| base.private.clone()),
            methods: self.methods.clone().or_else(|| base.methods.clone()),
            max_response_bytes: self.max_response_bytes.or(base.max_response_bytes),
            max_request_bytes: self.max_request_bytes.or(base.max_request_bytes),
            timeout: self.timeout.or(base.timeout),
        }
    }
}

impl ApprovalSettings {
    fn over(&self, base: &ApprovalSettings) -> ApprovalSettings {
        ApprovalSettings {
            expires: self.expires.or(base.expires),
            counts_time: self.counts_time.or(base.counts_time),
            max_pending: self.max_pending.or(base.max_pending),
        }
    }
}
