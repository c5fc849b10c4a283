//! Dates, times and `sleep`. Instants are RFC 3339, zones are IANA names; the zone database is bundled, so that every
//! machine gives the same results.
//!
//! - `instant`: parsing instants. `zone`: time zones. `format`: formatting.
//! - `arithmetic`: durations and differences.

mod arithmetic;
mod format;
mod instant;
mod zone;

use crate::error::{Answer, StdError};
use crate::params::read;
use serde_json::{Value, json};
use std::time::Duration;

/// Longest sleep. A script that waits longer should be started later.
const MAX_SLEEP_MS: u64 = 10 * 60 * 1000;

/// Calls a function. Dropping the future ends a sleep.
pub async fn call(function: &str, params: Value) -> Answer {
    match function {
        "now" => {
            read(params, |_| Ok(()))?;
            Ok(instant::now().into())
        }
        "parse" => {
            let (text, zone) = read(params, |params| Ok((params.text("text")?, params.optional_text("zone")?)))?;
            Ok(instant::write(instant::parse(&text, zone::of(zone)?)?)?.into())
        }
        "format" => {
            let (instant, pattern, zone) = read(params, |params| {
                Ok((params.text("instant")?, params.text("pattern")?, params.optional_text("zone")?))
            })?;
            let instant = instant::read("instant", &instant)?.to_zoned(zone::of(zone)?);
            Ok(format::format(&instant, &pattern)?.into())
        }
        "parts" => {
            let (instant, zone) = read(params, |params| Ok((params.text("instant")?, params.optional_text("zone")?)))?;
            Ok(format::parts(&instant::read("instant", &instant)?.to_zoned(zone::of(zone)?)))
        }
        "add" => {
            let (instant, duration, zone) = read(params, |params| {
                Ok((params.text("instant")?, params.text("duration")?, params.optional_text("zone")?))
            })?;
            let instant = instant::read("instant", &instant)?.to_zoned(zone::of(zone)?);
            Ok(instant::write(arithmetic::add(&instant, &duration)?)?.into())
        }
        "since" => {
            let (earlier, later) = read(params, |params| Ok((params.text("earlier")?, params.text("later")?)))?;
            let (earlier, later) = (instant::read("earlier", &earlier)?, instant::read("later", &later)?);
            Ok(json!(arithmetic::milliseconds(earlier, later)))
        }
        "sleep" => sleep(read(params, |params| params.count("milliseconds", u32::MAX.into()))?).await,
        _ => Err(StdError::unknown_function("time", function)),
    }
}

async fn sleep(milliseconds: u64) -> Answer {
    if milliseconds > MAX_SLEEP_MS {
        let message = format!("milliseconds must be at most {MAX_SLEEP_MS}, which is ten minutes, not {milliseconds}");
        return Err(StdError::invalid(message));
    }
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    Ok(Value::Null)
}

#[cfg(test)]
mod tests;
