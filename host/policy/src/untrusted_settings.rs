//! Settings of an untrusted file: they may tighten the policy, but not loosen it.

use crate::preset::Preset;
use crate::settings::{APPROVALS_EXPIRE, Settings};
use std::cmp::min;

impl Settings {
    /// Drops what would loosen the policy. Rules stay: their decisions are restricted in `decide`.
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

    /// Lists the configuration keys that have no effect while the file is untrusted. Rules that allow what a definition
    /// wants approved are reported when they match.
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
