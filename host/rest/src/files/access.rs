//! Files of a space that a caller may use.

use crate::audit::ApiAction;
use crate::problem::Problem;
use crate::service::Service;
use crate::who::Who;
use agent_spaces_std::fs::{FileError, Files};
use http::StatusCode;

impl Service {
    /// Calls a function with the files of a space, where blocking is allowed. An action is written to the audit log before;
    /// whether the policy and the precondition allow it is known only when it is done.
    pub(super) async fn with_files<T: Send + 'static>(
        &self,
        who: &Who,
        space: &str,
        action: Option<ApiAction>,
        work: impl FnOnce(&Files) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, Problem> {
        let space = self.space(who, space).await?;
        self.check_here(&space)?;
        let assembled = self.assembled(&space).await?;
        let none = || Problem::denied("space.denied", "This space has no files");
        if assembled.files.is_none() {
            return Err(none());
        }
        if let Some(action) = action {
            self.record(action).await?;
        }
        let done = tokio::task::spawn_blocking(move || match &assembled.files {
            Some(files) => work(files).map_err(Problem::from),
            None => Err(none()),
        });
        let outcome = done.await.map_err(|error| Problem::internal(&error))?;
        // The space may have ended meanwhile: then its folder is gone, or was made again by this.
        self.check_kept(&space).await?;
        outcome
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Problem {
        match &error {
            FileError::Precondition { .. } => {
                let detail = "The file is not in the state that the request expects: read it again";
                Problem::new(StatusCode::PRECONDITION_FAILED, "precondition", detail)
            }
            FileError::TooLarge(most) => Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "request.too_large",
                format!("The file has more than {most} bytes"),
            ),
            FileError::Refused(_) if error.is_not_found() => Problem::not_found("file"),
            FileError::Refused(refused) => Problem::denied("file.denied", refused.message.clone()),
        }
    }
}
