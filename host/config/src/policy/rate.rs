//! Rate limits (`rateLimit`).

use super::super::quantity::{read_count, read_duration};
use super::super::reader::{Node, Result};
use agent_spaces_policy::{Period, Rate};

pub(super) fn read(node: Node<'_>) -> Result<Rate> {
    let object = node.object("an object with `requests` and `period`", &["requests", "period", "wait"])?;
    let periods =
        [("second", Period::Second), ("minute", Period::Minute), ("hour", Period::Hour), ("day", Period::Day)];
    Ok(Rate {
        requests: object.need("requests", |node| read_count(node, u64::MAX))?,
        period: object.need("period", |node| node.choice("period", &periods))?,
        wait: object.read("wait", read_duration)?,
    })
}
