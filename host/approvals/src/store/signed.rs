//! Signed decision, bound to one request.

use super::key::ApproverKey;
use super::token::ApproverToken;
use crate::canonical::canonical;
use crate::decision::{Decision, Lasts, Verdict};
use crate::request::Request;
use crate::times;
use agent_spaces_types::shown::Shown;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::SystemTime;

/// Domain separation of our signatures.
const PURPOSE: &str = "agent-spaces approval decision 2";

/// Longest name of a caller, in characters. Those of configurations are shorter.
const MAX_CALLER: usize = 200;

/// Stored decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SignedDecision {
    pub(super) id: String,
    pub(super) digest: String,
    pub(super) decision: Verdict,
    #[serde(default)]
    pub(super) reason: Option<String>,
    pub(super) by: String,
    /// Caller of a server that passed the decision on. The server knows it; `by` is what the caller says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) caller: Option<String>,
    #[serde(rename = "for")]
    pub(super) lasts: Lasts,
    #[serde(with = "times")]
    pub(super) decided: SystemTime,
    pub(super) signature: String,
}

/// Reason why a decision fails verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum VerifyError {
    #[error("it is for another request")]
    Request,
    #[error("it is for other arguments")]
    Digest,
    #[error("its signature is not the approver's, or not for the pending request")]
    Signature,
    #[error("it was made after the request had expired")]
    Late,
}

impl ApproverToken {
    /// Signs a decision on a request. The text is for a store that another host reads.
    pub fn sign_decision(&self, request: &Request, decision: Decision) -> String {
        json!(SignedDecision::new(request, decision, self)).to_string()
    }

    /// As [`sign_decision`](ApproverToken::sign_decision), for a decision that a caller of a server passes on. Whoever
    /// reads it gets both names: `ann (through desk)`.
    pub fn sign_decision_of(&self, caller: &str, request: &Request, decision: Decision) -> String {
        let caller = Shown::line(caller, MAX_CALLER).into();
        json!(SignedDecision::passed_on(Some(caller), request, decision, self)).to_string()
    }
}

impl ApproverKey {
    /// Reads a signed decision on a request.
    ///
    /// # Errors
    /// It is not for this request, not signed by the holder of this key's token, or was made too late. It may be read
    /// at any time.
    pub fn verify_decision(&self, request: &Request, text: &str) -> Result<Decision, String> {
        let signed: SignedDecision = serde_json::from_str(text).map_err(|error| error.to_string())?;
        signed.verify_signature(request, self).map_err(|error| error.to_string())
    }
}

impl SignedDecision {
    pub(super) fn new(request: &Request, decision: Decision, token: &ApproverToken) -> SignedDecision {
        SignedDecision::passed_on(None, request, decision, token)
    }

    fn passed_on(
        caller: Option<String>,
        request: &Request,
        decision: Decision,
        token: &ApproverToken,
    ) -> SignedDecision {
        let Decision { verdict, reason, by, lasts } = decision.sanitized();
        let mut signed = SignedDecision {
            id: request.id.clone(),
            digest: request.digest.clone(),
            decision: verdict,
            reason,
            by,
            caller,
            lasts,
            decided: times::to_millis(SystemTime::now()),
            signature: String::new(),
        };
        signed.signature = URL_SAFE_NO_PAD.encode(token.sign(signed.message(request).as_bytes()));
        signed
    }

    /// Returns the decision if the approver signed it for this request and in time.
    pub(super) fn verify(self, request: &Request, key: &ApproverKey) -> Result<Decision, VerifyError> {
        let decision = self.verify_signature(request, key)?;
        if request.time_left().is_none() {
            return Err(VerifyError::Late);
        }
        Ok(decision)
    }

    /// Returns the decision if the approver signed it for this request before that expired.
    fn verify_signature(self, request: &Request, key: &ApproverKey) -> Result<Decision, VerifyError> {
        if self.id != request.id {
            return Err(VerifyError::Request);
        }
        if self.digest != request.digest {
            return Err(VerifyError::Digest);
        }
        let signature = URL_SAFE_NO_PAD.decode(&self.signature).map_err(|_| VerifyError::Signature)?;
        if !key.is_signature(&signature, self.message(request).as_bytes()) {
            return Err(VerifyError::Signature);
        }
        if self.decided >= request.expires {
            return Err(VerifyError::Late);
        }
        let by = match self.caller {
            Some(caller) if caller != self.by => format!("{} (through {caller})", self.by),
            _ => self.by,
        };
        Ok(Decision { verdict: self.decision, reason: self.reason, by, lasts: self.lasts })
    }

    /// Builds the signed message: the decision, and the fingerprint of what the person was shown.
    fn message(&self, request: &Request) -> String {
        let decided = times::text(self.decided);
        let mut parts = vec![
            json!(PURPOSE),
            json!(self.id),
            json!(self.digest),
            json!(request.fingerprint()),
            json!(self.decision),
            json!(self.lasts),
            json!(self.by),
            json!(self.reason),
            json!(decided),
        ];
        // Decisions of earlier versions have none, and their signatures stay valid.
        parts.extend(self.caller.as_ref().map(|caller| json!(caller)));
        canonical(&json!(parts))
    }
}

#[cfg(test)]
#[path = "signed_tests.rs"]
mod tests;
