//! Time zones by IANA name.

use crate::error::StdError;
use agent_spaces_types::nearest::nearest;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::sync::LazyLock;

/// Longest zone name that is looked up; real ones have about thirty characters.
const MAX_NAME: usize = 100;

/// Bundled zone database. The machine's may be older, or missing.
pub(super) static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Returns the zone of this name; UTC if none is given.
pub(super) fn of(name: Option<String>) -> Result<TimeZone, StdError> {
    name.map_or(Ok(TimeZone::UTC), |name| named(&name))
}

/// Returns the zone of this name.
pub(super) fn named(name: &str) -> Result<TimeZone, StdError> {
    let zone = (name.len() <= MAX_NAME).then(|| ZONES.get(name).ok()).flatten();
    zone.filter(|zone| !zone.is_unknown()).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> StdError {
    if name.len() > MAX_NAME {
        return StdError::invalid("The zone's name is too long; expected an IANA name such as Europe/Berlin");
    }
    let zones: Vec<_> = ZONES.available().map(|zone| zone.as_str().to_owned()).collect();
    let mut names = zones.iter().map(String::as_str);
    // Accept the city alone.
    let city = names.clone().find(|zone| zone.rsplit('/').next().is_some_and(|city| is_same(city, name)));
    StdError::invalid(match city.or_else(|| nearest(name, &mut names)) {
        Some(meant) => format!("Unknown time zone {name:?}; did you mean {meant}?"),
        None => format!("Unknown time zone {name:?}; expected an IANA name such as Europe/Berlin, or UTC"),
    })
}

/// Compares a city leniently: `New York` is `New_York`.
fn is_same(city: &str, name: &str) -> bool {
    city.eq_ignore_ascii_case(&name.trim().replace(' ', "_"))
}
