//! Landlock rules for files, TCP ports and signals.

use crate::{ConfineError, Network, Profile};
use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, NetPort, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

/// Requested Landlock ABI. A kernel enforces the rights it knows; `Kernel::gaps` returns what is missing.
const KNOWN: ABI = ABI::V7;

/// Confines the calling thread.
pub(crate) fn restrict(profile: &Profile) -> Result<(), ConfineError> {
    let status = rules(profile).map_err(|error| ConfineError::Refused(format!("Landlock: {error}")))?;
    match status {
        RulesetStatus::NotEnforced => Err(ConfineError::Refused("Landlock: no rule is enforced".to_owned())),
        _ => Ok(()),
    }
}

fn rules(profile: &Profile) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::from_read(KNOWN);
    let mut write = AccessFs::from_all(KNOWN);
    write.remove(AccessFs::MakeChar | AccessFs::MakeBlock);
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(KNOWN))?.scope(Scope::from_all(KNOWN))?;
    if profile.network != Network::All {
        ruleset = ruleset.handle_access(AccessNet::from_all(KNOWN))?;
    }
    let mut created = ruleset
        .create()?
        .add_rules(path_beneath_rules(&profile.read, read))?
        .add_rules(path_beneath_rules(&profile.write, write))?;
    if let Network::Ports { connect, bind } = &profile.network {
        for port in connect {
            created = created.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
        for port in bind {
            created = created.add_rule(NetPort::new(*port, AccessNet::BindTcp))?;
        }
    }
    Ok(created.restrict_self()?.ruleset)
}

/// Returns the kernel's Landlock ABI. Has the side effect of slightly confining the calling thread.
pub(crate) fn probe() -> Option<u32> {
    let tried = Ruleset::default().handle_access(AccessFs::MakeBlock).and_then(Ruleset::create);
    match tried.and_then(|ruleset| ruleset.restrict_self()).ok()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi.to_string().parse().ok(),
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    }
}
