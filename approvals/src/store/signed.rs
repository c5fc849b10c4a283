//! A decision that only the holder of a token can have made, for one request alone.

use super::key::ApproverKey;
use super::token::ApproverToken;
use crate::canonical::canonical;
use crate::decision::{Decision, Lasts, Verdict};
use crate::request::Request;
use crate::times;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::SystemTime;

/// What signatures of ours are made over nothing else with.
const PURPOSE: &str = "agent-spaces approval decision 2";

/// A decision as it lies in the store.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SignedDecision {
    pub(super) id: String,
    pub(super) digest: String,
    pub(super) decision: Verdict,
    #[serde(default)]
    pub(super) reason: Option<String>,
    pub(super) by: String,
    #[serde(rename = "for")]
    pub(super) lasts: Lasts,
    #[serde(with = "times")]
    pub(super) decided: SystemTime,
    pub(super) signature: String,
}

/// Why a decision is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Forged {
    #[error("it is for another request")]
    Request,
    #[error("it is for other arguments")]
    Digest,
    #[error("it is not signed with the approver's token, or not for what is waiting")]
    Signature,
    #[error("it was made after the request had expired")]
    Late,
}

impl SignedDecision {
    pub(super) fn new(request: &Request, decision: Decision, token: &ApproverToken) -> SignedDecision {
        let Decision { verdict, reason, by, lasts } = decision.tidied();
        let mut signed = SignedDecision {
            id: request.id.clone(),
            digest: request.digest.clone(),
            decision: verdict,
            reason,
            by,
            lasts,
            decided: times::to_millis(SystemTime::now()),
            signature: String::new(),
        };
        signed.signature = URL_SAFE_NO_PAD.encode(token.sign(signed.message(request).as_bytes()));
        signed
    }

    /// The decision, if the approver made it for this very request and in time.
    pub(super) fn verify(self, request: &Request, key: &ApproverKey) -> Result<Decision, Forged> {
        if self.id != request.id {
            return Err(Forged::Request);
        }
        if self.digest != request.digest {
            return Err(Forged::Digest);
        }
        let signature = URL_SAFE_NO_PAD.decode(&self.signature).map_err(|_| Forged::Signature)?;
        if !key.is_signature(&signature, self.message(request).as_bytes()) {
            return Err(Forged::Signature);
        }
        if self.decided >= request.expires || request.time_left().is_none() {
            return Err(Forged::Late);
        }
        Ok(Decision { verdict: self.decision, reason: self.reason, by: self.by, lasts: self.lasts })
    }

    /// What is signed: all that was decided, and with the fingerprint all that the person was shown.
    fn message(&self, request: &Request) -> String {
        let decided = times::text(self.decided);
        canonical(&json!([
            PURPOSE,
            self.id,
            self.digest,
            request.fingerprint(),
            self.decision,
            self.lasts,
            self.by,
            self.reason,
            decided
        ]))
    }
}

#[cfg(test)]
#[path = "signed_tests.rs"]
mod tests;
