//! Redactor of this process: filters everything that it prints about scripts and providers.

use agent_spaces_mcp::secrets::Redactor;
use std::sync::LazyLock;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// Returns the redactor, which knows every secret that the command has read. Clones share their secrets.
pub(super) fn redactor() -> &'static Redactor {
    &REDACTOR
}
