//! Programs in responses.

use serde::Serialize;
use utoipa::ToSchema;

/// Program.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Program)]
pub(crate) struct ProgramView {
    /// Name.
    pub(super) name: String,
    /// Description of its latest version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    /// Number of its latest version.
    #[schema(minimum = 1)]
    pub(super) version: u32,
    /// Time of its first version.
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// Time of its latest version.
    #[schema(format = DateTime)]
    pub(super) updated_at: String,
}

/// Version of a program.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgramVersion {
    /// Name of the program.
    pub(super) name: String,
    /// Number, from one.
    #[schema(minimum = 1)]
    pub(super) version: u32,
    /// Hash of the source: BLAKE3, hexadecimal.
    pub(super) hash: String,
    /// Time of publication.
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// Source; missing in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
}
