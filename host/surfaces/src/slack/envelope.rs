//! Events of Slack: messages, slash commands, and clicks on buttons.

use super::mrkdwn::to_plain;
use serde_json::Value;

/// Longest id of a team, a channel, a user or a message.
const MAX_ID: usize = 64;

/// Longest question, in bytes. Slack's own limit is lower.
const MAX_QUESTION: usize = 64 << 10;

/// Event to handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// A person asks in a channel or in a direct message.
    Message(Asked),
    /// A person asks with a slash command.
    Command(SlashCommand),
    /// A person clicked a button.
    Click(Click),
}

/// A question in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) team: String,
    pub(super) channel: String,
    /// The thread, which is a session: the message that it began with.
    pub(super) thread: String,
    /// The message.
    pub(super) message: String,
    pub(super) text: String,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlashCommand {
    pub(super) team: String,
    pub(super) channel: String,
    pub(super) command: String,
    pub(super) text: String,
    /// URL for the answer; not checked yet.
    pub(super) response_url: String,
}

/// A click on a button of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Click {
    pub(super) user: String,
    pub(super) channel: String,
    /// Thread of the button's message.
    pub(super) thread: Option<String>,
    /// Id of the approval.
    pub(super) approval: String,
    pub(super) is_approved: bool,
}

/// Actions of the two buttons.
pub(super) const APPROVE: &str = "agent_spaces_approve";
pub(super) const DENY: &str = "agent_spaces_deny";

/// Reads an envelope's payload: the key under which repetitions are known, and what to handle. `None` if there is nothing
/// to do, as for messages of bots, this one included.
pub(super) fn read(kind: &str, envelope_id: &str, payload: &Value, bot: &str) -> Option<(String, Incoming)> {
    match kind {
        "events_api" => {
            let asked = message(payload, bot)?;
            // A mention may come as two events; both are of one message.
            Some((format!("message {} {}", asked.channel, asked.message), Incoming::Message(asked)))
        }
        "slash_commands" => {
            let member = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
            Some((format!("envelope {envelope_id}"), Incoming::Command(command(member)?)))
        }
        "interactive" => Some((format!("envelope {envelope_id}"), Incoming::Click(click(payload)?))),
        _ => None,
    }
}

/// Returns the id of an event, under which Slack repeats it.
pub(super) fn event_id(payload: &Value) -> Option<&str> {
    payload.get("event_id").and_then(Value::as_str)
}

fn message(payload: &Value, bot: &str) -> Option<Asked> {
    let event = payload.get("event")?;
    let kind = event.get("type")?.as_str()?;
    let is_direct = event.get("channel_type").and_then(Value::as_str) == Some("im");
    let is_question = kind == "app_mention" || (kind == "message" && is_direct);
    // Edits, joins and the like have a subtype; a message with a file is a message.
    let is_plain = event.get("subtype").is_none_or(|subtype| subtype == "file_share");
    let user = id(event, "user")?;
    let is_bot = event.get("bot_id").is_some_and(|bot| !bot.is_null()) || user == bot;
    if !is_question || !is_plain || is_bot {
        return None;
    }
    let team = id(payload, "team_id").or_else(|| id(event, "team"))?;
    if is_of_others(payload, event, &team) {
        return None;
    }
    let text = event.get("text")?.as_str()?;
    let message = id(event, "ts")?;
    Some(Asked {
        team,
        channel: id(event, "channel")?,
        thread: id(event, "thread_ts").unwrap_or_else(|| message.clone()),
        message,
        text: to_plain(cut(text), bot),
    })
}

/// Returns true if the sender is of another organization, in a channel that is shared with it: only people of the
/// workspace may use the rights of its caller.
fn is_of_others(payload: &Value, event: &Value, team: &str) -> bool {
    let is_shared = payload.get("is_ext_shared_channel").and_then(Value::as_bool).unwrap_or_default();
    let home = ["user_team", "source_team", "team"].iter().find_map(|member| id(event, member));
    is_shared && home.as_deref() != Some(team)
}

/// Reads a slash command out of its members.
pub(super) fn command(member: impl Fn(&str) -> Option<String>) -> Option<SlashCommand> {
    let id = |name: &str| member(name).filter(|text| is_id(text));
    Some(SlashCommand {
        team: id("team_id")?,
        channel: id("channel_id")?,
        command: id("command")?,
        text: to_plain(cut(&member("text").unwrap_or_default()), ""),
        response_url: member("response_url").filter(|url| url.len() <= 2_000)?,
    })
}

fn click(payload: &Value) -> Option<Click> {
    if payload.get("type")?.as_str()? != "block_actions" {
        return None;
    }
    let action = payload.get("actions")?.as_array()?.first()?;
    let is_approved = match action.get("action_id")?.as_str()? {
        APPROVE => true,
        DENY => false,
        _ => return None,
    };
    let container = payload.get("container").unwrap_or(&Value::Null);
    Some(Click {
        user: id(payload.get("user")?, "id")?,
        channel: payload
            .get("channel")
            .and_then(|channel| id(channel, "id"))
            .or_else(|| id(container, "channel_id"))?,
        thread: id(container, "thread_ts"),
        approval: action.get("value")?.as_str().filter(|value| value.len() <= 512)?.to_owned(),
        is_approved,
    })
}

fn id(value: &Value, member: &str) -> Option<String> {
    value.get(member).and_then(Value::as_str).filter(|text| is_id(text)).map(str::to_owned)
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_ID && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_QUESTION)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{APPROVE, Incoming, read};
    use serde_json::{Value, json};

    fn event(event: Value) -> Option<Incoming> {
        let payload = json!({ "type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": event });
        read("events_api", "e1", &payload, "UBOT").map(|(_, incoming)| incoming)
    }

    #[test]
    fn mentions_and_direct_messages_are_questions() {
        let mention = json!({
            "type": "app_mention", "channel": "C1", "user": "U1", "text": "<@UBOT> why?", "ts": "1.1",
        });
        let Some(Incoming::Message(asked)) = event(mention) else { panic!("no question") };
        assert_eq!((asked.text.as_str(), asked.thread.as_str(), asked.team.as_str()), ("why?", "1.1", "T1"));
        let direct = json!({
            "type": "message", "channel_type": "im", "channel": "D1", "user": "U1", "text": "and?", "ts": "1.2",
            "thread_ts": "1.1",
        });
        let Some(Incoming::Message(asked)) = event(direct) else { panic!("no question") };
        assert_eq!((asked.thread.as_str(), asked.message.as_str()), ("1.1", "1.2"));
    }

    #[test]
    fn bots_edits_and_other_channels_are_ignored() {
        let base = json!({
            "type": "message", "channel_type": "im", "channel": "D1", "user": "U1", "text": "hi", "ts": "1.1",
        });
        assert!(event(base.clone()).is_some());
        for (member, value) in [
            ("bot_id", json!("B1")),
            ("user", json!("UBOT")),
            ("subtype", json!("message_changed")),
            ("channel_type", json!("channel")),
            ("type", json!("reaction_added")),
            ("ts", json!(1)),
            ("channel", json!("x".repeat(100))),
        ] {
            let mut changed = base.clone();
            changed[member] = value.clone();
            assert_eq!(event(changed), None, "{member}: {value}");
        }
        assert_eq!(read("events_api", "e1", &json!([1]), "UBOT"), None);
        assert_eq!(read("unknown", "e1", &json!({}), "UBOT"), None);
    }

    #[test]
    fn people_of_other_organizations_are_ignored_in_shared_channels() {
        let asked = |is_shared: bool, homes: Value| {
            let mut event = json!({ "type": "app_mention", "channel": "C1", "user": "U1", "text": "hi", "ts": "1.1" });
            event.as_object_mut().unwrap().extend(homes.as_object().cloned().unwrap());
            let payload = json!({ "team_id": "T1", "event": event, "is_ext_shared_channel": is_shared });
            read("events_api", "e1", &payload, "UBOT").is_some()
        };
        assert!(asked(true, json!({ "team": "T1" })) && asked(true, json!({ "team": "T1", "user_team": "T1" })));
        assert!(!asked(true, json!({ "team": "T2" })) && !asked(true, json!({ "team": "T1", "user_team": "T2" })));
        assert!(!asked(true, json!({})), "nothing says whose it is");
        assert!(asked(false, json!({})) && asked(false, json!({ "team": "T2" })));
    }

    #[test]
    fn a_mention_that_comes_as_two_events_has_one_key() {
        let key = |kind: &str| {
            let event = json!({
                "type": kind, "channel_type": "im", "channel": "D1", "user": "U1", "text": "hi", "ts": "1.1",
            });
            read("events_api", kind, &json!({ "team_id": "T1", "event": event }), "UBOT").unwrap().0
        };
        assert_eq!(key("message"), key("app_mention"));
    }

    #[test]
    fn clicks_are_of_our_buttons_alone() {
        let click = |action: &str| {
            let payload = json!({
                "type": "block_actions", "user": { "id": "U1" }, "channel": { "id": "C1" },
                "container": { "thread_ts": "1.1" }, "actions": [{ "action_id": action, "value": "apr_1" }],
            });
            read("interactive", "e1", &payload, "UBOT")
        };
        let Some((_, Incoming::Click(approve))) = click(APPROVE) else { panic!("no click") };
        assert!(approve.is_approved && approve.approval == "apr_1" && approve.user == "U1");
        assert_eq!(click("other"), None);
    }
}
