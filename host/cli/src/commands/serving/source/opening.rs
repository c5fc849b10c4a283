//! Opening of a source: its session, journal, type checker and search model.

use super::{Source, SourceOptions};
use crate::commands::failure::Failure;
use crate::commands::serving::{durable, settings};
use crate::commands::session::Session;
use crate::commands::space_choice::{Found, SpaceChoice};
use crate::commands::{approvals, folders, journal, terminal};
use agent_spaces::Code;
use agent_spaces::config::TypeCheck;
use agent_spaces::project::{Project, ToldOnce};
use agent_spaces::serve::check::TypeChecker;
use agent_spaces::serve::{ElicitedDecisions, ObservedResults, Offers, ServedChannel};
use agent_spaces_search::ModelFiles;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;

impl Source {
    /// Loads the project, and opens its session. Runs of code mode may be durable.
    pub(in crate::commands) fn open(
        choice: SpaceChoice,
        options: SourceOptions,
        runtime: Handle,
        mut offers: Offers,
        decisions: ElicitedDecisions,
    ) -> Result<Source, Failure> {
        let engine = folders::engine_for(true, options.max_runs)?;
        let initial = choice.find_here(&engine)?;
        let project = initial.project();
        project.map(settings::check_switch).transpose()?;
        let handle = runtime.clone();
        let mut session = Session::serving(project, options.is_traced, runtime)?;
        session.keep_histories();
        if let Some(observer) = options.observer {
            session.follow(observer);
        }
        let kept = choice.durable(&initial);
        let is_durable = kept.is_default && !options.is_proxy;
        let store = match is_durable || options.has_journal {
            true => Some(journal::open_patiently(&kept)?),
            false => None,
        };
        if let Some(store) = &store {
            session.share_counts(store);
            handle.spawn(durable::prune(store.clone(), kept.clone()));
        }
        let elsewhere = match &store {
            Some(store) if is_durable => {
                offers = offers.durable(durable::space(&choice, &initial, &kept, store.clone()));
                Some(approvals::journal_channel(store.clone(), None)?)
            }
            _ => approvals::store_channel(),
        };
        session.ask_through(Arc::new(ServedChannel::new(decisions, elsewhere)));
        let folder = project.map(|project| std::path::absolute(project.folder()).unwrap_or_default());
        let observed = ObservedResults::new(folders::outlines(), &folder.unwrap_or_default().to_string_lossy());
        session.observe(observed.clone());
        let offers = match project {
            Some(project) => with_model(offers, project)?,
            None => offers,
        }
        .observing(observed);
        let checker = checker(&initial);
        if let Some(note) = choice.raised_note(&initial) {
            terminal::warn(&terminal::clean_line(&note));
        }
        if let Some(note) = project.and_then(Project::ungiven_note) {
            terminal::warn(&terminal::clean_line(&note.to_string()));
        }
        let (undiscovered, attempts, is_stale) = (Mutex::default(), Mutex::default(), AtomicBool::default());
        let denied = ToldOnce::default();
        let (loaded, version) = (Mutex::new(Arc::new(choice.find_here(&engine)?)), AtomicU64::default());
        Ok(Source {
            choice,
            engine,
            session,
            initial,
            loaded,
            version,
            store,
            kept,
            offers,
            checker,
            undiscovered,
            apart: Mutex::default(),
            attempts,
            is_stale,
            denied,
        })
    }
}

/// Creates the type checker of the project.
fn checker(found: &Found) -> TypeChecker {
    match found {
        Found::Project(project) => {
            if let Some(note) = project.typescript_note() {
                terminal::warn(&terminal::clean_line(&note));
            }
            TypeChecker::new(project.config().code_mode.type_check, project.typescript())
        }
        Found::Definitions(_) => TypeChecker::new(TypeCheck::default(), None),
    }
}

/// Adds the project's sentence model to the search.
fn with_model(offers: Offers, project: &Project) -> Result<Offers, Failure> {
    let Some(folder) = project.search_model() else {
        if project.config().code_mode.search_model.is_some() {
            let file = terminal::clean_line(&project.config().file);
            terminal::warn(&format!("`codeMode.searchModel` is not used until you run `agent-spaces trust {file}`"));
        }
        return Ok(offers);
    };
    let files = ModelFiles::open(&folder).map_err(|error| {
        let hint = "correct or remove `codeMode.searchModel`";
        Failure::new(Code::ConfigSearchModel, terminal::clean_line(&error.to_string()), Some(hint))
    })?;
    Ok(offers.with_model(move || match files.read() {
        Ok(model) => Some(model),
        Err(error) => {
            let error = terminal::clean_line(&error.to_string());
            terminal::warn(&format!("the model of `codeMode.searchModel` is not used: {error}"));
            None
        }
    }))
}
