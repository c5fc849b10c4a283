//! `@capabilities/train-schedule` 1.0.0: its types, and functions that make calls to it.
//!
//! Generated: changes are lost.
#![allow(clippy::all, clippy::pedantic, rustdoc::all, dead_code, missing_docs, unreachable_pub, unused_imports)]

use agent_spaces::TypedCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GetScheduleParamsClass {
    #[serde(rename = "first")]
    First,
    #[serde(rename = "second")]
    Second,
}

/// What to look for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetScheduleParams {
    /// What from is.
    pub from: String,
    /// What to is.
    pub to: String,
    /// What departAfter is.
    #[serde(rename = "departAfter", default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub depart_after: Option<Option<String>>,
    /// How many.
    ///
    /// 1 to 20
    ///
    /// Default: 5
    #[serde(rename = "maxResults", default, skip_serializing_if = "Option::is_none")]
    pub max_results: Option<i64>,
    /// What class is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<GetScheduleParamsClass>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TripType {
    #[serde(rename = "regional")]
    Regional,
    #[serde(rename = "express")]
    Express,
}

/// A way to get there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trip {
    /// What id is.
    pub id: String,
    /// What price is.
    #[serde(deserialize_with = "required")]
    pub price: Option<f64>,
    /// What stops is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<Vec<Stop>>,
    /// What type is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<TripType>,
    /// All other members.
    #[serde(flatten)]
    pub extras: serde_json::Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// What station is.
    pub station: String,
    /// What minutes is.
    pub minutes: i64,
}

/// A member that is there, `null` or not: so that `null` and absent stay apart.
fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A member that must be there, `null` or not.
fn required<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::deserialize(from)
}

/// All about train-schedule.
pub mod train_schedule {
    use super::*;

    /// Does getSchedule.
    pub fn get_schedule(params: &GetScheduleParams) -> Result<TypedCall<Vec<Trip>>, serde_json::Error> {
        TypedCall::new("trainSchedule", "getSchedule", params)
    }

    /// Does listStations.
    pub fn list_stations() -> Result<TypedCall<Vec<String>>, serde_json::Error> {
        TypedCall::new("trainSchedule", "listStations", &serde_json::Map::new())
    }
}
