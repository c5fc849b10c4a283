//! Questions of all surfaces: contract. The service helper implements it as a folder.
// pub trait AgentSource: Send + Sync {   // implemented by the command over configuration and project
//     fn agents(&self) -> Vec<AgentSummary>;                                      // name, description, output schema; sorted
//     fn definition(&self, name: &str) -> Option<Arc<AgentDefinition>>;
//     fn tools<'a>(&'a self, agent: &'a AgentDefinition, client: &'a Client, approvals: Arc<dyn Approver>) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>>;
// }
// /// Asked when a call needs a person. Implemented by surfaces (terminal prompt, Slack buttons, A2A input-required, REST approvals).
// pub trait Approver: Send + Sync { fn ask<'a>(&'a self, request: ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer>; }   // ApprovalRequest{id, message, call: Value}; ApprovalAnswer::{Approve{by}, Deny{by, reason}, Expired}
// pub struct Question { pub client: Client, pub agent: String, pub session: SessionChoice, pub messages: Vec<Message>, pub system: Option<String>, pub caller_tools: Vec<Tool>, pub tool_choice: ToolChoice, pub output: Option<OutputFormat>, pub sampling: Sampling (overrides), pub approver: Arc<dyn Approver>, pub watcher: Watcher, pub cancel: CancellationToken, pub parent: Option<ParentCall> }
// pub enum SessionChoice { None, New, Resume(String) }   // None: nothing kept
// pub struct AgentService (Clone, Arc inside): new(source, models: Arc<dyn LanguageModel>, store: Option<Arc<dyn journal::Store>>, ledger: Ledger, metrics…) ; agents(); surface(name, limit) -> Surface ; Surface::ask(question) -> Result<Outcome, AgentError>  (waits FIFO for a slot of that surface; dropping the future leaves the queue; queue bounded at 1000 → AgentError::Busy); sessions(client) list; session(client,id) -> Vec<Record>; delete
