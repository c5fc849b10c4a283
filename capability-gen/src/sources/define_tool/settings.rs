//! Parser of [`Config`] in a tool's `config` or in a function: approvals, rate limits, scopes.

use super::fault::Fault;
use super::value::{Member, Reader};
use crate::definition::Config;
use serde_json::{Map, Value};

/// Settings given as literals.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) config: Config,
    /// True if the approval message is a function.
    pub(super) is_message_computed: bool,
    seen: Vec<String>,
}

impl Settings {
    pub(super) const KEYS: [&str; 4] = ["requiresApproval", "approvalMessage", "rateLimit", "scopes"];

    /// Reads members of a `config`, or those of a function that are settings.
    pub(super) fn read<'a>(
        &mut self,
        reader: &Reader<'a, '_>,
        members: impl IntoIterator<Item = Member<'a>>,
    ) -> Result<(), Fault> {
        for Member { name, at, value } in members {
            if self.seen.contains(&name) {
                return Err(Fault::new(at, format!("duplicate `{name}`"), "keep one of the two"));
            }
            if name == "approvalMessage" && reader.is_function(value)? {
                self.is_message_computed = true;
                self.seen.push(name);
                continue;
            }
            let alone = Map::from_iter([(name.clone(), reader.value(value)?)]);
            // Parsed one by one, so that an error has its place.
            let one: Config = serde_json::from_value(Value::Object(alone)).map_err(|error| {
                Fault::new(
                    at,
                    format!("`{name}`: {error}"),
                    format!("write one of {}, as documented", Self::KEYS.join(", ")),
                )
            })?;
            if one.rate_limit.is_some_and(|limit| limit.requests == 0) {
                return Err(Fault::new(
                    at,
                    "a rate limit of zero requests",
                    "allow at least one, or remove the function",
                ));
            }
            self.seen.push(name);
            let known = std::mem::take(&mut self.config);
            self.config = Config {
                requires_approval: one.requires_approval.or(known.requires_approval),
                approval_message: one.approval_message.or(known.approval_message),
                rate_limit: one.rate_limit.or(known.rate_limit),
                scopes: if one.scopes.is_empty() { known.scopes } else { one.scopes },
            };
        }
        Ok(())
    }
}
