//! Settings of a part of a space: they may tighten the policy of the whole space, but not loosen it.
//!
//! Rules over functions are kept in a layer of their own (see [`Rule::layer`]), so that none can loosen a decision.
//! Rate limits are added to those of the whole space. All other settings are compared with the effective ones.

use crate::decide::deciding;
use crate::domains::DomainPattern;
use crate::network::NetworkPolicy;
use crate::pattern::Pattern;
use crate::policy::Policy;
use crate::preset::Preset;
use crate::rule::{Decision, Rule};
use crate::settings::{ApprovalSettings, FileSettings, NetworkSettings, Settings};

/// Setting that would loosen the policy of the whole space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {message}")]
pub struct Loosens {
    /// JSON pointer of the setting within the policy: `/http/domains/0`.
    pub pointer: String,
    /// The fault. Says nothing about the policy of the whole space but that it is stricter.
    pub message: String,
}

impl Loosens {
    fn new(pointer: impl Into<String>, message: &str) -> Loosens {
        Loosens { pointer: pointer.into(), message: message.to_owned() }
    }
}

/// Message for a value above that of the whole space.
const HIGHER: &str = "more than the base space allows";

impl Settings {
    /// Merges `other` over these settings, for a part of the space that they apply to. Refuses settings that would
    /// allow what these do not. `place` names the part in the locations of its rules; it must be unique among the parts
    /// of the space, which count calls by location.
    pub fn tightened_by(&self, other: &Settings, place: &str) -> Result<Settings, Loosens> {
        let base = if self.only_tightens { self.clone().tightened() } else { self.clone() };
        // The preset's defaults are made explicit, so that another preset cannot change them.
        let effective = Policy::new(base.clone());
        let preset = match other.preset {
            Some(preset) if strictness(Some(preset)) < strictness(base.preset) => {
                return Err(Loosens::new("/preset", "less strict than the preset of the base space"));
            }
            preset => preset.or(base.preset),
        };
        let approvals = effective.approvals();
        let counts_time = other.approvals.counts_time.unwrap_or(approvals.counts_time);
        if approvals.counts_time && !counts_time {
            return Err(Loosens::new("/approvals/countsTime", "the base space counts the time of approvals"));
        }
        let layer = base.functions.iter().map(|rule| rule.layer).max().unwrap_or(0).saturating_add(1);
        let mut functions = base.functions.clone();
        for rule in &other.functions {
            check_rule(rule, &base.functions)?;
            functions.push(Rule { layer, place: format!("{place}: {}", rule.place), ..rule.clone() });
        }
        if let Some(rate) = other.rate_limit {
            let place = format!("{place}: the whole space");
            functions.push(Rule { layer, rate_limit: Some(rate), ..Rule::new(Pattern::every(), place) });
        }
        Ok(Settings {
            preset,
            fs: files(&effective, other)?,
            http: network(effective.network(), other)?,
            functions,
            rate_limit: base.rate_limit,
            approvals: ApprovalSettings {
                expires: Some(lower("/approvals/expires", other.approvals.expires, approvals.expires)?),
                counts_time: Some(counts_time),
                max_pending: Some(lower("/approvals/maxPending", other.approvals.max_pending, approvals.max_pending)?),
            },
            only_tightens: self.only_tightens,
        })
    }
}

/// Order of presets by what they allow functions. Without a preset, functions are allowed as by the permissive one.
fn strictness(preset: Option<Preset>) -> u8 {
    match preset {
        None | Some(Preset::Permissive) => 0,
        Some(Preset::Standard) => 1,
        Some(Preset::Restrictive) => 2,
    }
}

/// Returns the part's value, or that of the whole; refuses a higher one.
fn lower<T: PartialOrd>(pointer: &str, part: Option<T>, whole: T) -> Result<T, Loosens> {
    match part {
        Some(part) if part > whole => Err(Loosens::new(pointer, HIGHER)),
        part => Ok(part.unwrap_or(whole)),
    }
}

/// Returns the part's switch, or that of the whole; refuses to switch on what is off.
fn off(pointer: &str, part: Option<bool>, whole: bool) -> Result<bool, Loosens> {
    match part {
        Some(true) if !whole => Err(Loosens::new(pointer, "not allowed in the base space")),
        part => Ok(part.unwrap_or(whole)),
    }
}

fn files(effective: &Policy, other: &Settings) -> Result<FileSettings, Loosens> {
    let (whole, part) = (effective.files(), other.fs);
    // A stricter preset of the part is a default of the part: it lowers what the part does not set.
    let usual = other.preset.map(Preset::files);
    let size = |part: Option<u64>, usual: Option<u64>, whole: u64| part.or(usual.map(|usual| usual.min(whole)));
    let file_bytes = size(part.max_file_bytes, usual.map(|usual| usual.max_file_bytes), whole.max_file_bytes);
    let total_bytes = size(part.max_total_bytes, usual.map(|usual| usual.max_total_bytes), whole.max_total_bytes);
    let read = part.read.or(usual.map(|usual| usual.read && whole.read));
    let write = part.write.or(usual.map(|usual| usual.write && whole.write));
    Ok(FileSettings {
        read: Some(off("/fs/read", read, whole.read)?),
        write: Some(off("/fs/write", write, whole.write)?),
        max_file_bytes: Some(lower("/fs/maxFileBytes", file_bytes, whole.max_file_bytes)?),
        max_total_bytes: Some(lower("/fs/maxTotalBytes", total_bytes, whole.max_total_bytes)?),
    })
}

fn network(whole: &NetworkPolicy, other: &Settings) -> Result<NetworkSettings, Loosens> {
    let part = &other.http;
    let usual = other.preset.is_none_or(Preset::has_network);
    let enabled = match off("/http/enabled", part.enabled, whole.enabled)? {
        true if part.enabled.is_none() => usual,
        enabled => enabled,
    };
    let blocked = whole.blocked.iter().chain(part.blocked.iter().flatten()).cloned().collect();
    Ok(NetworkSettings {
        enabled: Some(enabled),
        domains: Some(hosts("/http/domains", part.domains.as_deref(), &whole.domains)?),
        blocked: Some(blocked),
        private: Some(hosts("/http/private", part.private.as_deref(), &whole.private)?),
        methods: methods(part.methods.as_ref(), whole.methods.as_ref(), other.preset)?,
        max_response_bytes: Some(lower("/http/maxResponseBytes", part.max_response_bytes, whole.max_response_bytes)?),
        max_request_bytes: Some(lower("/http/maxRequestBytes", part.max_request_bytes, whole.max_request_bytes)?),
        timeout: Some(lower("/http/timeout", part.timeout, whole.timeout)?),
    })
}

/// Returns the part's hosts, or those of the whole; refuses one that is not within one of the whole's.
fn hosts(
    pointer: &str,
    part: Option<&[DomainPattern]>,
    whole: &[DomainPattern],
) -> Result<Vec<DomainPattern>, Loosens> {
    let Some(part) = part else { return Ok(whole.to_vec()) };
    let is_more = |host: &DomainPattern| !whole.iter().any(|whole| whole.includes(host));
    match part.iter().position(is_more) {
        Some(index) => Err(Loosens::new(format!("{pointer}/{index}"), "not a host that the base space allows")),
        None => Ok(part.to_vec()),
    }
}

/// Returns the allowed methods; `None` for all, which is only so if the whole space allows all.
fn methods(
    part: Option<&Vec<String>>,
    whole: Option<&Vec<String>>,
    preset: Option<Preset>,
) -> Result<Option<Vec<String>>, Loosens> {
    let is_in = |list: &[String], method: &str| list.iter().any(|listed| listed.eq_ignore_ascii_case(method));
    let Some(part) = part else {
        // A stricter preset of the part is a default of the part.
        return Ok(match (whole, preset.and_then(Preset::methods)) {
            (Some(whole), Some(usual)) => Some(usual.into_iter().filter(|method| is_in(whole, method)).collect()),
            (whole, usual) => whole.cloned().or(usual),
        });
    };
    match part.iter().position(|method| whole.is_some_and(|whole| !is_in(whole, method))) {
        Some(index) => Err(Loosens::new(format!("/http/methods/{index}"), "not a method that the base space allows")),
        None => Ok(Some(part.clone())),
    }
}

/// Refuses a rule whose text loosens. One whose decision is looser only for some of its functions is accepted: for
/// those the lower layer decides.
fn check_rule(rule: &Rule, whole: &[Rule]) -> Result<(), Loosens> {
    let pointer = |key: &str| {
        let name = rule.pattern.as_str().replace('~', "~0").replace('/', "~1");
        format!("/functions/{name}{key}")
    };
    let refused = [
        ("/idempotent", rule.idempotent == Some(true)),
        ("/cache", rule.cache.is_some()),
        ("/retries", rule.retries.is_some()),
    ];
    if let Some((key, _)) = refused.iter().find(|(_, is_refused)| *is_refused) {
        return Err(Loosens::new(pointer(key), "only the base space can say which calls may be repeated"));
    }
    if rule.concurrency.is_some() {
        // All parts of a space share the limit of the whole.
        return Err(Loosens::new(pointer("/concurrency"), "only the base space can limit concurrent calls"));
    }
    let Some(decision) = rule.decision else { return Ok(()) };
    let layers = whole.iter().map(|rule| rule.layer).max().unwrap_or(0);
    let is_looser = (0..=layers).any(|layer| {
        let including = whole.iter().filter(|whole| whole.pattern.includes(&rule.pattern));
        deciding(including, layer).is_some_and(|(strict, _)| decision < strict)
    });
    match (is_looser, decision) {
        (false, _) => Ok(()),
        (true, Decision::Allow) => Err(Loosens::new(pointer(""), "the base space denies it, or requires approval")),
        (true, _) => Err(Loosens::new(pointer(""), "the base space denies it")),
    }
}
