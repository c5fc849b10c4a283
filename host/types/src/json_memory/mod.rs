//! Memory accounting for JSON: the size of a [`Value`], and parsing within a memory budget.
//!
//! A value takes far more memory than its text: an item of `[0,0,…]` is two bytes of text and [`ITEM_BYTES`] of memory,
//! and a list doubles its capacity as it grows. So parsers of untrusted text charge an [`Account`] before each
//! allocation, and stop when it refuses.

mod read;

pub use read::{ReadError, RepeatedKeys, UniqueKeys, from_slice, from_str};

use serde_json::Value;

/// Bytes of a value inside a list, without the data it points to.
pub const ITEM_BYTES: u64 = size_of::<Value>() as u64;

/// Bytes of an object's member, without the data it points to: its entry and its slot in the hash table.
const MEMBER_BYTES: u64 = (size_of::<(u64, String, Value)>() + size_of::<usize>() + 2) as u64;

/// Allocator overhead of each block: header and rounding.
const BLOCK_BYTES: u64 = 16;

/// Bytes charged to an account at a time: often enough to stop soon, seldom enough to cost nothing.
const STEP_BYTES: u64 = 64 << 10;

/// Memory budget.
pub trait Account {
    /// Reserves bytes before they are allocated. Returns false, and reserves nothing, if the budget is exhausted or the
    /// work was cancelled.
    fn take(&mut self, bytes: u64) -> bool;

    /// Returns reserved bytes to the budget.
    fn give_back(&mut self, bytes: u64);
}

/// Fixed budget of bytes.
#[derive(Debug)]
pub struct Allowance(pub u64);

impl Account for Allowance {
    fn take(&mut self, bytes: u64) -> bool {
        match self.0.checked_sub(bytes) {
            Some(left) => self.0 = left,
            None => return false,
        }
        true
    }

    fn give_back(&mut self, bytes: u64) {
        self.0 = self.0.saturating_add(bytes);
    }
}

/// Memory budget exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not enough memory for the values")]
pub struct NoMemory;

/// Charges an account in steps of `STEP_BYTES`.
pub struct Meter<'a> {
    account: &'a mut dyn Account,
    /// Bytes counted and not yet charged.
    owed: u64,
    /// Bytes processed since the account was last charged.
    worked: u64,
    is_refused: bool,
}

impl<'a> Meter<'a> {
    /// Creates a meter at zero.
    pub fn new(account: &'a mut dyn Account) -> Meter<'a> {
        Meter { account, owed: 0, worked: 0, is_refused: false }
    }

    /// Counts bytes that are about to be allocated.
    pub fn take(&mut self, bytes: u64) -> Result<(), NoMemory> {
        self.owed = self.owed.saturating_add(bytes);
        if self.owed < STEP_BYTES { Ok(()) } else { self.settle() }
    }

    /// Counts the block of a string.
    pub fn take_text(&mut self, bytes: usize) -> Result<(), NoMemory> {
        self.take((bytes as u64).saturating_add(BLOCK_BYTES))
    }

    /// Counts a list of `items` items of `bytes` bytes each.
    pub fn take_list(&mut self, items: usize, bytes: u64) -> Result<(), NoMemory> {
        if items == 0 { Ok(()) } else { self.take((items as u64).saturating_mul(bytes).saturating_add(BLOCK_BYTES)) }
    }

    /// Counts an object of `members` members, without their names and values.
    pub fn take_object(&mut self, members: usize) -> Result<(), NoMemory> {
        self.take(object_bytes(members))
    }

    /// Charges the bytes that were counted and not yet charged.
    pub fn settle(&mut self) -> Result<(), NoMemory> {
        let owed = std::mem::take(&mut self.owed);
        self.is_refused |= !self.account.take(owed);
        if self.is_refused { Err(NoMemory) } else { Ok(()) }
    }

    /// Counts bytes that are processed without allocating, and settles from time to time, so that cancelled work stops.
    pub fn work(&mut self, bytes: u64) -> Result<(), NoMemory> {
        self.worked = self.worked.saturating_add(bytes);
        if self.worked < STEP_BYTES {
            return Ok(());
        }
        self.worked = 0;
        self.settle()
    }

    /// Counts a reallocation: during the move, the old and the new block both exist.
    pub fn replace(&mut self, old: u64, new: u64) -> Result<(), NoMemory> {
        self.take(new)?;
        let at_once = self.owed.min(old);
        self.owed -= at_once;
        if old > at_once {
            self.account.give_back(old - at_once);
        }
        Ok(())
    }

    /// Reserves capacity for one more item, and counts it.
    pub fn make_room(&mut self, list: &mut Vec<Value>) -> Result<(), NoMemory> {
        let old = list.capacity();
        if list.len() < old {
            return Ok(());
        }
        // Most short lists have one item, and the next step makes up for it.
        let new = if old == 0 { 1 } else { old.saturating_mul(2).max(4) };
        let block = |room: usize| if room == 0 { 0 } else { room as u64 * ITEM_BYTES + BLOCK_BYTES };
        self.replace(block(old), block(new))?;
        list.reserve_exact(new - old);
        Ok(())
    }
}

/// Bytes of the hash table and the entries of an object. Their capacities are 3, 7, 14, 28, … members.
fn object_bytes(members: usize) -> u64 {
    match room_for(members) {
        0 => 0,
        room => room * MEMBER_BYTES + 2 * BLOCK_BYTES,
    }
}

fn room_for(members: usize) -> u64 {
    match members {
        0 => 0,
        1..=3 => 3,
        members => (members as u64).saturating_mul(8).div_ceil(7).next_power_of_two() / 8 * 7,
    }
}

/// Memory of a value, its own [`ITEM_BYTES`] included. Counting stops once `bound` is reached.
pub fn size(value: &Value, bound: u64) -> u64 {
    let mut bytes = ITEM_BYTES;
    add(value, bound, &mut bytes);
    bytes
}

/// Adds the data that a value points to.
fn add(value: &Value, bound: u64, bytes: &mut u64) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => *bytes += text.len() as u64 + BLOCK_BYTES,
        Value::Array(items) => {
            *bytes += items.len() as u64 * ITEM_BYTES + BLOCK_BYTES;
            for item in items {
                if *bytes >= bound {
                    return;
                }
                add(item, bound, bytes);
            }
        }
        Value::Object(members) => {
            *bytes += object_bytes(members.len());
            for (name, member) in members {
                if *bytes >= bound {
                    return;
                }
                *bytes += name.len() as u64 + BLOCK_BYTES;
                add(member, bound, bytes);
            }
        }
    }
}

/// Returns true if JSON text has more than `most` values, by counting separators in constant memory. For invalid JSON
/// the answer is unspecified.
pub fn has_more_values(text: &[u8], most: usize) -> bool {
    let (mut values, mut is_in_string, mut is_escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_string => is_escaped = true,
            b'"' => is_in_string = !is_in_string,
            b',' | b'[' | b'{' if !is_in_string => values += 1,
            _ => {}
        }
    }
    values > most
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str, allowed: u64) -> Result<Value, ReadError> {
        from_str(text, RepeatedKeys::LastCounts, &mut Meter::new(&mut Allowance(allowed)))
    }

    #[test]
    fn parsing_agrees_with_serde_json() {
        for text in [
            r#"{"b":[1,2.5,-0,true,null,"é\n",18446744073709551615,1e300],"a":{},"b":{"c":[[],[1],[1,2,3,4,5]]}}"#,
            "[1] 2",
            "[1,]",
            "nul",
            "1e999",
            "\"\\ud800\"",
            "",
            &"[".repeat(200),
        ] {
            let expected = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
            let given = read(text, u64::MAX).map_err(|error| error.to_string());
            assert_eq!(given, expected, "{text}");
            let given = from_slice(text.as_bytes(), RepeatedKeys::LastCounts, &mut Meter::new(&mut Allowance(1 << 20)));
            assert_eq!(given.map_err(|error| error.to_string()), expected, "{text}");
        }
    }

    #[test]
    fn duplicate_keys_are_refused_on_request() {
        let strict = |text| from_str(text, RepeatedKeys::Refused, &mut Meter::new(&mut Allowance(1 << 20)));
        let error = strict(r#"[{"a":1,"b":{"c":1,"c":1}}]"#).unwrap_err().to_string();
        assert!(error.contains(r#"duplicate key "c""#), "{error}");
        assert_eq!(strict(r#"{"a":{"a":1}}"#).unwrap(), json!({"a": {"a": 1}}));
        assert!(serde_json::from_str::<UniqueKeys>(r#"[{"a":1,"b":{"c":1,"c":1}}]"#).is_err());
        let text = r#"{"z":[null,true,-1,18446744073709551615,1.5,"a\n\"é"],"a":{}}"#;
        let UniqueKeys(value) = serde_json::from_str(text).unwrap();
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn values_beyond_the_allowance_are_refused() {
        for (text, items) in [
            (format!("[{}0]", "0,".repeat(99_999)), 100_000),
            (format!("[{}[]]", "[],".repeat(99_999)), 100_000),
            (format!("[{}[0]]", "[0],".repeat(49_999)), 100_000),
        ] {
            let least = items * ITEM_BYTES;
            assert!(matches!(read(&text, least - 1), Err(ReadError::Memory(_))), "{:.20}", text);
            assert!(read(&text, least * 5).is_ok(), "{:.20}", text);
        }
        let text = format!("\"{}\"", "x".repeat(100_000));
        assert!(matches!(read(&text, 99_999), Err(ReadError::Memory(_))));
        assert!(read(&text, 200_000).is_ok());
        let keys: Vec<String> = (0..10_000).map(|key| format!("\"{key}\":0")).collect();
        let text = format!("{{{}}}", keys.join(","));
        assert!(matches!(read(&text, 10_000 * MEMBER_BYTES), Err(ReadError::Memory(_))));
        assert!(read(&text, 10_000 * MEMBER_BYTES * 3).is_ok());
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        assert!(!has_more_values(br#"["a,b\",[{",1]"#, 2) && has_more_values(br#"["a,b\",[{",1]"#, 1));
        assert!(!has_more_values(b"7", 0) && has_more_values(b"[]", 0));
    }

    #[test]
    fn capacity_that_a_list_outgrew_is_given_back() {
        let mut account = Allowance(1 << 30);
        let text = format!("[{}0]", "0,".repeat((1 << 16) - 1));
        from_str(&text, RepeatedKeys::LastCounts, &mut Meter::new(&mut account)).unwrap();
        let taken = (1 << 30) - account.0;
        assert!(taken < (1 << 16) * ITEM_BYTES + (64 << 10), "{taken}");
    }

    #[test]
    fn size_agrees_with_what_parsing_charged() {
        let text = r#"[{"name":"one","tags":["a","b"],"more":{"x":null}},"some text",[[],[],[]]]"#;
        let text = format!("[{}{text}]", format!("{text},").repeat(1_000));
        let mut account = Allowance(1 << 30);
        let value = from_str(&text, RepeatedKeys::LastCounts, &mut Meter::new(&mut account)).unwrap();
        let (taken, size) = ((1 << 30) - account.0, size(&value, u64::MAX));
        assert!(size <= taken && taken < 2 * size, "{size} {taken}");
        assert!(super::size(&value, 1_000) < size, "counting stops at the bound");
    }
}
