//! What this process knows to be secret: whatever it says of a script or a provider passes here.

use agent_spaces_mcp::secrets::Redactor;
use std::sync::LazyLock;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// Knows every secret that a command has read. Clones are one.
pub(super) fn redactor() -> &'static Redactor {
    &REDACTOR
}
