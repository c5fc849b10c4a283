//! Conversation: messages of a session, built from its records.

use crate::handles::Handles;
use crate::record::Record;
use agent_spaces_models::{Finish, Message, Part, Role, ToolCall, ToolResult};
use std::collections::HashSet;

/// Result of a call that was being made when the process or the question ended.
const IN_DOUBT: &str = "(the outcome of this call is not known: it was interrupted while it was being made. Find out \
                        whether it took effect before you repeat it)";

/// Result of a call that nobody answered: the caller asked something else instead.
const UNANSWERED: &str = "(this call was not made)";

/// Messages, and the calls that have no result yet.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    messages: Vec<Message>,
    open: Vec<OpenCall>,
    /// True if the last question is answered.
    is_finished: bool,
    /// Finish reason of the last answer, if no record follows it.
    last_finish: Option<Finish>,
}

#[derive(Debug)]
struct OpenCall {
    call: ToolCall,
    is_started: bool,
    result: Option<ToolResult>,
}

impl Conversation {
    /// The conversation of a session. Results that were put aside are given to `handles`.
    pub(crate) fn of(records: Vec<Record>, handles: &Handles) -> Conversation {
        let mut conversation = Conversation { is_finished: true, ..Conversation::default() };
        for record in records {
            if let Record::Kept { handle, text } = record {
                handles.restore(handle, text);
            } else {
                conversation.add(&record);
            }
        }
        conversation
    }

    /// Messages so far. Calls without a result are at the end, if there are any.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Length of all images in base64.
    pub(crate) fn image_bytes(&self) -> usize {
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        let images = parts.flat_map(|part| match part {
            Part::Image(image) => std::slice::from_ref(image),
            Part::ToolResult(result) => result.images.as_slice(),
            _ => &[],
        });
        images.map(|image| image.data.len()).sum()
    }

    /// Returns true if the last question is answered.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Text and end of an answer without calls, or of a refusal, that nothing followed: the process ended before it was
    /// given to anyone.
    pub(crate) fn unused_answer(&self) -> Option<(String, Finish)> {
        let finish = self.last_finish.clone()?;
        if !self.open.is_empty() && !matches!(finish, Finish::Refused(_)) {
            return None;
        }
        let message = self.messages.last().filter(|message| message.role == Role::Assistant);
        Some((message.map(Message::text).unwrap_or_default(), finish))
    }

    /// Calls of the last answer that have neither a result nor begun.
    pub(crate) fn unmade_calls(&self) -> Vec<ToolCall> {
        let unmade = |open: &&OpenCall| !open.is_started && open.result.is_none();
        self.open.iter().filter(unmade).map(|open| open.call.clone()).collect()
    }

    /// Results for the calls that were being made when the process ended.
    pub(crate) fn doubts(&self) -> Vec<ToolResult> {
        let in_doubt = |open: &&OpenCall| open.is_started && open.result.is_none();
        self.open.iter().filter(in_doubt).map(|open| failed(&open.call, IN_DOUBT)).collect()
    }

    /// Adds a step.
    pub(crate) fn add(&mut self, record: &Record) {
        if !matches!(record, Record::Settings { .. } | Record::Nested { .. }) {
            self.last_finish = None;
        }
        match record {
            Record::Asked { messages } => {
                self.is_finished = false;
                for message in messages {
                    self.add_asked(message);
                }
                // A caller may give results for some of its calls alone.
                self.answer_open_calls();
            }
            Record::Answered { answer, .. } => {
                self.answer_open_calls();
                let mut parts = answer.parts.clone();
                self.make_ids_unique(&mut parts);
                self.open = parts.iter().filter_map(open_call).collect();
                // A refusal may have no words, and providers refuse messages without any.
                if !parts.is_empty() {
                    self.messages.push(Message::assistant(parts));
                }
                self.last_finish = Some(answer.finish.clone());
            }
            Record::Calling { calls } => {
                for open in self.open.iter_mut().filter(|open| calls.contains(&open.call.id)) {
                    open.is_started = true;
                }
            }
            Record::Returned { result } => self.add_result(result.clone()),
            Record::Notice { text } => {
                self.answer_open_calls();
                self.messages.push(Message::user(text.clone()));
            }
            Record::Finished { .. } => self.is_finished = true,
            Record::Kept { .. } | Record::Settings { .. } | Record::Nested { .. } => {}
        }
    }

    /// Adds a message of the caller. Their results of their own tools answer open calls.
    fn add_asked(&mut self, message: &Message) {
        if message.role != Role::Tool {
            self.answer_open_calls();
            // A caller that sends a whole conversation has its own calls and results in it.
            self.open = message.parts.iter().filter_map(open_call).collect();
            self.messages.push(message.clone());
            return;
        }
        for part in &message.parts {
            if let Part::ToolResult(result) = part {
                self.add_result(result.clone());
            }
        }
    }

    /// Adds a result. The message of results is complete, and added, with the last of them. A result of no open call is
    /// left out: providers refuse such conversations.
    fn add_result(&mut self, result: ToolResult) {
        let Some(open) = self.open.iter_mut().find(|open| open.call.id == result.call_id) else { return };
        open.result.get_or_insert(result);
        if self.open.iter().all(|open| open.result.is_some()) {
            self.answer_open_calls();
        }
    }

    /// Ends the wait for results: calls that have none get one that says so.
    fn answer_open_calls(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let result = |open: OpenCall| match open.result {
            Some(result) => result,
            None if open.is_started => failed(&open.call, IN_DOUBT),
            None => failed(&open.call, UNANSWERED),
        };
        let results = std::mem::take(&mut self.open).into_iter().map(result).collect();
        self.messages.push(Message::results(results));
    }

    /// Providers that give calls no ids get ours, which begin anew with every answer. Results are found by id, so an id
    /// that was used before, in an earlier answer or in this one, is changed.
    fn make_ids_unique(&self, parts: &mut [Part]) {
        let mut used: HashSet<String> = HashSet::new();
        for part in self.messages.iter().flat_map(|message| &message.parts) {
            if let Part::ToolCall(call) = part {
                used.insert(call.id.clone());
            }
        }
        for part in parts {
            let Part::ToolCall(call) = part else { continue };
            let mut number = self.messages.len();
            let wished = call.id.clone();
            while !used.insert(call.id.clone()) {
                call.id = format!("{wished}_{number}");
                number += 1;
            }
        }
    }

    /// The calls of the last answer, in its order, with the ids that the conversation gave them.
    pub(crate) fn last_calls(&self) -> Vec<ToolCall> {
        let Some(message) = self.messages.last().filter(|message| message.role == Role::Assistant) else {
            return Vec::new();
        };
        message
            .parts
            .iter()
            .filter_map(|part| if let Part::ToolCall(call) = part { Some(call.clone()) } else { None })
            .collect()
    }
}

fn open_call(part: &Part) -> Option<OpenCall> {
    let Part::ToolCall(call) = part else { return None };
    Some(OpenCall { call: call.clone(), is_started: false, result: None })
}

fn failed(call: &ToolCall, text: &str) -> ToolResult {
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        text: text.to_owned(),
        images: Vec::new(),
        is_error: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_models::{Answer, Api, Arguments, Finish, Origin, Usage};

    fn call(id: &str) -> Part {
        let arguments = Arguments::Object(Default::default());
        Part::ToolCall(ToolCall { id: id.into(), name: "look".into(), arguments, opaque: None })
    }

    fn answered(parts: Vec<Part>) -> Record {
        let origin = Origin { provider: "p".into(), model: "m".into(), api: Api::Ollama };
        let answer = Answer { parts, finish: Finish::ToolCalls, usage: Usage::default(), model: None };
        Record::Answered { origin, request: String::new(), answer, cost: None }
    }

    fn returned(id: &str, text: &str) -> Record {
        let (call_id, name, text) = (id.into(), "look".into(), text.into());
        Record::Returned { result: ToolResult { call_id, name, text, images: Vec::new(), is_error: false } }
    }

    fn asked(text: &str) -> Record {
        Record::Asked { messages: vec![Message::user(text)] }
    }

    fn results(conversation: &Conversation) -> Vec<String> {
        let parts = conversation.messages().iter().flat_map(|message| &message.parts);
        parts
            .filter_map(|part| if let Part::ToolResult(result) = part { Some(result.text.clone()) } else { None })
            .collect()
    }

    #[test]
    fn results_have_the_order_of_the_calls() {
        let records =
            vec![asked("q"), answered(vec![call("a"), call("b")]), returned("b", "second"), returned("a", "first")];
        let conversation = Conversation::of(records, &Handles::default());
        assert_eq!(results(&conversation), ["first", "second"]);
        assert_eq!(conversation.messages().len(), 3);
        assert!(!conversation.is_finished());
    }

    #[test]
    fn a_call_that_was_being_made_is_in_doubt_and_one_that_was_not_is_open() {
        let records =
            vec![asked("q"), answered(vec![call("a"), call("b")]), Record::Calling { calls: vec!["a".into()] }];
        let conversation = Conversation::of(records, &Handles::default());
        assert_eq!(conversation.doubts().iter().map(|doubt| &*doubt.call_id).collect::<Vec<_>>(), ["a"]);
        assert_eq!(conversation.unmade_calls().iter().map(|call| &*call.id).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn a_new_question_ends_the_wait_for_results() {
        let calling = Record::Calling { calls: vec!["a".into()] };
        let records = vec![asked("q"), answered(vec![call("a"), call("b")]), calling, asked("another")];
        let conversation = Conversation::of(records, &Handles::default());
        assert_eq!(results(&conversation), [IN_DOUBT, UNANSWERED]);
        assert_eq!(conversation.messages().last().map(Message::text), Some("another".into()));
    }

    #[test]
    fn calls_whose_results_a_caller_leaves_out_are_answered() {
        let Record::Returned { result } = returned("a", "mine") else { unreachable!() };
        let results_of_caller = Record::Asked { messages: vec![Message::results(vec![result])] };
        let records = vec![asked("q"), answered(vec![call("a"), call("b")]), results_of_caller];
        let conversation = Conversation::of(records, &Handles::default());
        assert_eq!(results(&conversation), ["mine", UNANSWERED]);
    }

    #[test]
    fn ids_that_repeat_are_changed() {
        let records =
            vec![asked("q"), answered(vec![call("call_0")]), returned("call_0", "one"), answered(vec![call("call_0")])];
        let mut conversation = Conversation::of(records, &Handles::default());
        let calls = conversation.last_calls();
        assert_ne!(calls[0].id, "call_0");
        conversation.add(&returned(&calls[0].id, "two"));
        assert_eq!(results(&conversation), ["one", "two"]);
    }

    #[test]
    fn calls_of_one_answer_with_the_same_id_get_a_result_each() {
        let mut conversation =
            Conversation::of(vec![asked("q"), answered(vec![call("a"), call("a")])], &Handles::default());
        let calls = conversation.last_calls();
        assert_ne!(calls[0].id, calls[1].id);
        conversation.add(&returned(&calls[1].id, "second"));
        conversation.add(&returned(&calls[0].id, "first"));
        assert_eq!(results(&conversation), ["first", "second"]);
    }

    #[test]
    fn an_answer_that_nothing_followed_is_unused() {
        let text = || answered(vec![Part::Text("so".into())]);
        let conversation = Conversation::of(vec![asked("q"), text()], &Handles::default());
        assert_eq!(conversation.unused_answer(), Some(("so".to_owned(), Finish::ToolCalls)));
        let with_calls = Conversation::of(vec![asked("q"), answered(vec![call("a")])], &Handles::default());
        assert_eq!(with_calls.unused_answer(), None);
        let notice = Record::Notice { text: "again".into() };
        assert_eq!(Conversation::of(vec![asked("q"), text(), notice], &Handles::default()).unused_answer(), None);
    }

    #[test]
    fn an_answer_without_words_is_no_message() {
        let conversation = Conversation::of(vec![asked("q"), answered(Vec::new())], &Handles::default());
        assert_eq!(conversation.messages().len(), 1);
        assert_eq!(conversation.unused_answer(), Some((String::new(), Finish::ToolCalls)));
        assert!(conversation.last_calls().is_empty());
    }

    #[test]
    fn a_result_without_a_call_is_left_out() {
        let conversation = Conversation::of(vec![asked("q"), returned("x", "lost")], &Handles::default());
        assert_eq!(conversation.messages().len(), 1);
    }
}
