//! Streaming scanner for the ids of the requests that a message answers, without buffering the message.

use rmcp::model::RequestId;

/// Limit on responses found in one batch.
const MAX_ANSWERS: usize = 256;

/// Length limit of names and ids. Every letter may be written as `\u0069`.
const MAX_TOKEN: usize = 256;

/// Scans a stream of JSON in constant memory for the `id` of each response: of the top-level object, or of each object in
/// a top-level array.
#[derive(Debug, Default)]
pub(super) struct AnswerScanner {
    depth: usize,
    /// Depth of a message's member names: 1, or 2 in a batch; 0 before the first byte.
    level: usize,
    in_string: bool,
    escaped: bool,
    in_value: bool,
    /// Name or id being read, as written.
    token: Vec<u8>,
    name: Name,
    message: Message,
    answers: Vec<RequestId>,
    /// Set if the input is not JSON.
    broken: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Name {
    #[default]
    Other,
    Id,
    Method,
    Answer,
}

#[derive(Debug, Default)]
struct Message {
    id: Option<RequestId>,
    is_answer: bool,
    is_request: bool,
}

impl AnswerScanner {
    /// Scans more bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.broken {
                return;
            }
            self.step(byte);
        }
    }

    /// Returns the ids of complete responses.
    pub(super) fn answers(self) -> Vec<RequestId> {
        self.answers
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => self.shut(),
            b':' if self.depth == self.level => self.end_name(),
            b',' if self.depth == self.level => self.end_value(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            // Byte order mark.
            0xEF | 0xBB | 0xBF if self.level == 0 => {}
            _ if self.depth == 0 => self.broken = true,
            _ => self.keep(byte),
        }
    }

    /// Buffers a byte of a name or an id; one byte over the limit marks it as cut off.
    fn keep(&mut self, byte: u8) {
        let wanted = self.depth == self.level && (!self.in_value || self.name == Name::Id);
        if wanted && self.token.len() <= MAX_TOKEN {
            self.token.push(byte);
        }
    }

    fn open(&mut self, byte: u8) {
        // An object is no valid id.
        self.keep(byte);
        self.depth = self.depth.saturating_add(1);
        if self.level == 0 {
            self.level = if byte == b'[' { 2 } else { 1 };
        }
        if self.depth == self.level {
            self.in_value = false;
            self.name = Name::Other;
            self.token.clear();
            self.message = Message::default();
        }
    }

    fn shut(&mut self) {
        if self.depth == self.level {
            self.end_value();
            let message = std::mem::take(&mut self.message);
            if let Some(id) = message.id
                && message.is_answer
                && !message.is_request
                && self.answers.len() < MAX_ANSWERS
            {
                self.answers.push(id);
            }
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.level = 0;
        }
    }

    fn end_name(&mut self) {
        self.name = match self.take_token::<String>().as_deref() {
            Some("id") => Name::Id,
            Some("method") => Name::Method,
            Some("result" | "error") => Name::Answer,
            _ => Name::Other,
        };
        self.in_value = true;
    }

    fn end_value(&mut self) {
        match self.name {
            Name::Id => self.message.id = self.take_token(),
            Name::Method => self.message.is_request = true,
            Name::Answer => self.message.is_answer = true,
            Name::Other => {}
        }
        self.token.clear();
        self.name = Name::Other;
        self.in_value = false;
    }

    fn take_token<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        let token = std::mem::take(&mut self.token);
        if token.len() > MAX_TOKEN { None } else { serde_json::from_slice(&token).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn answers(text: &str) -> Vec<RequestId> {
        let mut scanner = AnswerScanner::default();
        // Byte by byte, because reads may end anywhere.
        for byte in text.bytes() {
            scanner.feed(&[byte]);
        }
        scanner.answers()
    }

    #[test]
    fn the_id_is_found_at_any_position() {
        let number = |id| vec![RequestId::Number(id)];
        assert_eq!(answers(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), number(7));
        assert_eq!(answers(r#"{"result":{"id":1,"x":"\"id\":2,"},"jsonrpc":"2.0","id" : 7 }"#), number(7));
        assert_eq!(answers(r#"{"result":[{"id":3},[4,5],{"a":{"id":6}}],"id":7}"#), number(7));
        assert_eq!(answers("\u{feff}{\"error\":{},\"\\u0069d\":7}"), number(7));
        assert_eq!(answers(r#"{"id":"a\"b","result":"\\"}"#), vec![RequestId::String("a\"b".into())]);
    }

    #[test]
    fn ids_of_other_messages_are_ignored() {
        assert_eq!(answers(r#"{"id":7,"method":"sampling/createMessage","params":{"result":1}}"#), vec![]);
        assert_eq!(answers(r#"{"id":7,"method":"m","result":1}"#), vec![]);
        assert_eq!(answers(r#"{"id":7}"#), vec![]);
        assert_eq!(answers(r#"{"id":{"id":7},"result":1}"#), vec![]);
        assert_eq!(answers(r#"{"id":null,"result":1}"#), vec![]);
        assert_eq!(answers(r#"log {"id":7,"result":1}"#), vec![]);
        assert_eq!(answers(r#""{\"id\":7,\"result\":1}""#), vec![]);
        assert_eq!(answers(r#"{"id":7,"result":"cut off"#), vec![]);
        assert_eq!(answers(&format!(r#"{{"id":"{}","result":1}}"#, "a".repeat(10_000))), vec![]);
    }

    #[test]
    fn each_response_of_a_batch_is_found() {
        let batch = r#"[{"id":1,"result":[{"id":9,"result":1}]},{"method":"m","id":2},{"error":{},"id":"3"}]"#;
        assert_eq!(answers(batch), vec![RequestId::Number(1), RequestId::String("3".into())]);
        let many = format!("[{}]", vec![r#"{"id":1,"result":1}"#; 10_000].join(","));
        assert_eq!(answers(&many).len(), MAX_ANSWERS);
    }

    #[test]
    fn deep_nesting_needs_no_memory() {
        let deep = "[".repeat(1 << 20);
        assert_eq!(answers(&format!(r#"{{"result":{deep}"#)), vec![]);
        assert_eq!(answers(&"}]".repeat(1000)), vec![]);
        let text = format!(r#"{{"result":{deep}{},"id":5}}"#, "]".repeat(1 << 20));
        assert_eq!(answers(&text), vec![RequestId::Number(5)]);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            r#"[a-z"\\{}\[\]:, ]{0,8}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let name = prop_oneof![Just("id".to_owned()), Just("result".to_owned()), r#"[a-z"\\:,]{0,4}"#];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((name, inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_parser(result in any_json(), id in any::<i64>(), last in any::<bool>()) {
            let first = json!({ "id": id, "result": result });
            let message = if last { json!({ "result": result, "id": id }) } else { first };
            prop_assert_eq!(answers(&message.to_string()), vec![RequestId::Number(id)]);
            let pretty = serde_json::to_string_pretty(&message).unwrap();
            prop_assert_eq!(answers(&pretty), vec![RequestId::Number(id)]);
        }

        #[test]
        fn any_bytes_are_accepted_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let mut scanner = AnswerScanner::default();
            scanner.feed(&bytes);
            scanner.answers();
        }
    }
}
