//! `agent-spaces runs answer`

use crate::commands::failure::Failure;
use crate::commands::journal::OpenJournal;
use crate::commands::{output, terminal};
use agent_spaces::Code;
use agent_spaces::durable::DoubtAnswer;
use agent_spaces::durable::control::answer;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};

/// Say what became of a call in doubt: sent, and not answered when the host died
///
/// `runs show` lists them. Look at the other system first: nobody checks the answer. The run can be resumed then.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces runs show 7f3c
  agent-spaces runs answer 7f3c 3 --happened '{\"id\": 17}'
  agent-spaces runs answer 7f3c 3 --did-not-happen")]
pub(super) struct Answer {
    /// The run
    run: String,

    /// Number of the call
    call: u64,

    #[command(flatten)]
    word: Word,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

/// A person's word on a call.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Word {
    /// It took effect, and this is its result as JSON. The script gets it as it is, and it is final: it must have the
    /// function's result type
    #[arg(long, value_name = "JSON")]
    happened: Option<String>,

    /// It did not take effect: the call is made again
    #[arg(long)]
    did_not_happen: bool,

    /// Nobody knows: the call fails with call.in_doubt, which the script can catch
    #[arg(long)]
    give_up: bool,
}

impl Answer {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.answer(), self.json)
    }

    fn answer(&self) -> Result<(Value, Shown), Failure> {
        let word = self.word.read()?;
        let journal = OpenJournal::open()?;
        let id = journal.find(&self.run)?.id;
        journal.wait(answer(&*journal.store, &id, self.call, &word))?;
        let run = terminal::clean_line(&id);
        let text = shown!("recorded; continue the run: agent-spaces runs resume {}\n", run);
        Ok((json!({ "runId": id, "callId": self.call, "answer": word }), text))
    }
}

impl Word {
    fn read(&self) -> Result<DoubtAnswer, Failure> {
        match &self.happened {
            Some(text) => serde_json::from_str(text).map(DoubtAnswer::Happened).map_err(|error| {
                let hint = "write it as JSON, such as '{\"id\": 17}', '\"done\"' or null";
                Failure::new(Code::ConfigUsage, format!("--happened: {error}"), Some(hint))
            }),
            None if self.did_not_happen => Ok(DoubtAnswer::DidNotHappen),
            None => Ok(DoubtAnswer::GiveUp),
        }
    }
}
