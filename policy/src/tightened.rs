//! Settings of a file that its user has not accepted: they may tighten what would hold without them, and loosen
//! nothing.

use crate::policy::APPROVALS_EXPIRE;
use crate::preset::Preset;
use crate::settings::Settings;
use std::cmp::min;

impl Settings {
    /// These settings without what would loosen something. Rules stay: what they decide is bounded where it is decided.
    pub(crate) fn tightened(mut self) -> Settings {
        let usual = Preset::Standard.files();
        if self.preset == Some(Preset::Permissive) {
            self.preset = None;
        }
        let bounded = |size: Option<u64>, usual: u64| size.map(|size| min(size, usual));
        self.fs.max_file_bytes = bounded(self.fs.max_file_bytes, usual.max_file_bytes);
        self.fs.max_total_bytes = bounded(self.fs.max_total_bytes, usual.max_total_bytes);
        self.http.enabled = Some(false);
        self.approvals.expires = self.approvals.expires.map(|expires| min(expires, APPROVALS_EXPIRE));
        for rule in &mut self.functions {
            (rule.idempotent, rule.cache, rule.retries) = (None, None, None);
        }
        self
    }

    /// What of these settings does not hold while they may only tighten: keys of the configuration. Rules that allow what
    /// a definition wants approved are told of when they are met.
    pub fn loosening(&self) -> Vec<String> {
        let kept = self.clone().tightened();
        let mut keys = Vec::new();
        let mut note = |is_changed: bool, key: &str| keys.extend(is_changed.then(|| format!("`policy.{key}`")));
        note(kept.preset != self.preset, "preset");
        note(kept.fs.max_file_bytes != self.fs.max_file_bytes, "fs.maxFileBytes");
        note(kept.fs.max_total_bytes != self.fs.max_total_bytes, "fs.maxTotalBytes");
        note(kept.approvals.expires != self.approvals.expires, "approvals.expires");
        let is_repeated = self.functions.iter().any(|rule| rule.idempotent == Some(true));
        note(is_repeated, "functions: idempotent, cache, retries");
        keys
    }
}
