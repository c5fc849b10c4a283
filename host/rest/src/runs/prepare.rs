//! Preparation of a program, which computes and does not yield.

use crate::problem::Problem;
use crate::service::Service;
use crate::source::Assembled;
use crate::who::Who;
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_sandbox::program::Program;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Service {
    /// Prepares a program when it is its tenant's turn on the processors. Returns the time that it took, too.
    pub(super) async fn prepare(
        &self,
        who: &Who,
        space: Arc<Assembled>,
        name: String,
        text: String,
    ) -> Result<(Program, Duration), Problem> {
        let tenant = self.seat(who.owner()).tenant;
        let permit = self.0.admission.preparation(&tenant).await;
        let prepared = self.compute(who, move || {
            let begun = Instant::now();
            let prepared = space.space.prepare(&name, &text).map(|program| (program, begun.elapsed()));
            // Until it is done, though the client may have disconnected.
            drop(permit);
            prepared
        });
        match prepared.await? {
            Ok(prepared) => Ok(prepared),
            Err(PrepareError::Script(error)) => Err(Problem::script(error)),
            Err(PrepareError::Host(error)) => Err(Problem::internal(&error)),
        }
    }
}
