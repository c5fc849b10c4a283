//! Reasons of failures, in a word: the sections of the baseline.

use crate::execute::{Ending, RUNNER};
use crate::suite::Test;

/// Features that the engine, QuickJS-ng 0.16.2 in WebAssembly, lacks, whole or in part: test262's name
/// for each, and what it is.
pub(crate) const LACKS: &[(&str, &str)] = &[
    ("Temporal", "dates and times as `Temporal`"),
    ("ShadowRealm", "realms that a script makes"),
    ("decorators", "`@decorator` on classes and their members"),
    ("import-defer", "`import defer`"),
    ("source-phase-imports-module-source", "`import source` of a module that the host provides"),
    ("source-phase-imports", "`import source`"),
    ("import-text", "`import … with { type: 'text' }`: not by the host, which reads JavaScript and JSON"),
    ("import-bytes", "`import … with { type: 'bytes' }`: likewise"),
    ("Atomics.waitAsync", "`Atomics.waitAsync`"),
    ("Atomics", "`Atomics`: left out of the engine's build for WebAssembly"),
    ("await-dictionary", "`Promise.allKeyed`, `Promise.allSettledKeyed`"),
    ("tail-call-optimization", "calls in tail position without a stack frame"),
    ("legacy-regexp", "`RegExp.$1` and its like, as proposed"),
];

const FEATURE: &str = "feature ";

/// A section that tests are put into by what they ask of their host.
struct Rule {
    name: &'static str,
    why: &'static str,
    applies: fn(&Test) -> bool,
}

const RULES: &[Rule] = &[
    Rule {
        name: "$262.createRealm",
        why: "needs a second realm; a sandbox has one",
        applies: |test| test.source.contains("createRealm"),
    },
    Rule {
        name: "$262.IsHTMLDDA",
        why: "needs an object like `document.all`, which plain JavaScript cannot make",
        applies: |test| test.source.contains("$262.IsHTMLDDA"),
    },
];

/// Sections into which a person moves tests from the last one, once it is known why they fail. They
/// stay there for as long as they fail.
const FOUND: &[(&str, &str)] = &[
    ("script goal", "the runner evaluates scripts with `eval`, whose declarations are not those of a script"),
    ("imports", "what a run imports is known, and read as JavaScript or JSON, before it starts"),
    ("build", "the engine's build for WebAssembly leaves out growable shared memory"),
    ("globals", "a function that our realm replaces does otherwise than the standard says"),
];

/// The last section.
pub(crate) const ENGINE: &str = "engine";
const ENGINE_WHY: &str = "the engine does otherwise than the standard says, outside of a sandbox too";

/// The section that a failure belongs to, as far as it shows.
pub(crate) fn reason(test: &Test, ending: &Ending) -> String {
    let code = if let Ending::Ended(code, _) = ending { code.as_str() } else { "" };
    if code.starts_with("host.") || code == RUNNER {
        return code.to_owned();
    }
    if let Some(tag) = lacking(test) {
        return format!("{FEATURE}{tag}");
    }
    if code.starts_with("limit.") {
        return code.to_owned();
    }
    RULES.iter().find(|rule| (rule.applies)(test)).map_or(ENGINE, |rule| rule.name).to_owned()
}

/// A feature that the test is tagged with and the engine lacks.
pub(crate) fn lacking(test: &Test) -> Option<&'static str> {
    let features = &test.front.features;
    LACKS.iter().map(|(tag, _)| *tag).find(|tag| features.iter().any(|own| own == tag))
}

/// True if tests are moved into this section by hand.
pub(crate) fn is_found(reason: &str) -> bool {
    FOUND.iter().any(|(name, _)| *name == reason)
}

/// True if a section is that of a feature.
pub(crate) fn is_feature(reason: &str) -> bool {
    reason.starts_with(FEATURE)
}

/// A section in a sentence.
pub(crate) fn explain(reason: &str) -> &'static str {
    if let Some(tag) = reason.strip_prefix(FEATURE) {
        return LACKS.iter().find(|(known, _)| *known == tag).map_or("", |(_, what)| what);
    }
    if reason.starts_with("host.") || reason == RUNNER {
        return "the host or the runner failed: a fault of ours";
    }
    if reason.starts_with("limit.") {
        return "the test reached a limit of its run";
    }
    let rule = RULES.iter().find(|rule| rule.name == reason).map(|rule| rule.why);
    let found = || FOUND.iter().find(|(name, _)| *name == reason).map(|(_, why)| *why);
    rule.or_else(found).unwrap_or(ENGINE_WHY)
}
