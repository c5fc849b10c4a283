//! Exposed functions of proxy mode.

use super::Source;
use crate::commands::failure::Failure;
use crate::commands::space_choice::Found;
use crate::commands::terminal;
use agent_spaces::Code;
use agent_spaces::serve::Exposure;

impl Source {
    /// Sets the functions of proxy mode: these, or those of the configuration.
    pub(in crate::commands) fn expose(&mut self, mut names: Vec<String>) -> Result<(), Failure> {
        if let (true, Found::Project(project)) = (names.is_empty(), &self.initial) {
            names = project.exposed().to_vec();
        }
        if names.is_empty() {
            let hint =
                "name functions or capabilities with --expose, or in `serve.expose` of an accepted configuration";
            return Err(Failure::new(
                Code::ConfigExpose,
                "proxy mode needs exposed functions, and there are none",
                Some(hint),
            ));
        }
        self.offers = self.offers.clone().exposing(Exposure::new(names));
        Ok(())
    }

    /// Warns about exposed names that do not exist or that the policy denies.
    pub(in crate::commands) fn warn_of_unexposed(&self) {
        for name in self.offers.unexposed() {
            let name = terminal::clean_line(&name);
            terminal::warn(&format!(
                "cannot expose `{name}`: no such function or capability (see `agent-spaces capabilities list`)"
            ));
        }
        self.warn_of_denied();
    }

    /// Warns once about exposed names that the policy denies.
    pub(in crate::commands) fn warn_of_denied(&self) {
        for (name, why) in self.offers.denied() {
            if self.denied.is_new(&name) {
                let (name, why) = (terminal::clean_line(&name), terminal::clean_line(&why));
                terminal::warn(&format!("`{name}` is not exposed: the policy denies it ({why})"));
            }
        }
    }
}
