//! Capabilities in Rust: closures over the host's own types, through serde and schemars.
//!
//! - [`Capability`]: functions with what they take and give, made into a module by the compiler that all definitions go
//!   through.
//! - `function`: what is said of one function besides its types.
//! - `schema`: the JSON Schemas of types.
//! - `handler`: from JSON to types and back.

mod function;
mod handler;
mod schema;

pub use function::NativeFunction;

use super::{Answering, Provider, ProviderKind};
use crate::error::HostError;
use crate::handlers::{Call, CapabilityError, Handler, Handlers};
use crate::interfaces::Interfaces;
use crate::package::{Package, interface_name};
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::definition::{Config, Definition, Place, SourceKind};
use capability_gen::model::Module;
use capability_gen::{emit, wit};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A capability whose functions are closures.
///
/// What a function takes and gives are types: their `JsonSchema` says what scripts may pass and what they get. Doc
/// comments become descriptions, an `Option` may be left out, enums become unions. Parameters are checked against the
/// schema before a closure sees them, and policies, approvals, rates, events and accounting are the same as for every
/// other capability.
///
/// ```
/// use schemars::JsonSchema;
/// use agent_spaces::{Capability, CapabilityError, Engine, Handlers, Interfaces, RunOptions, Space};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Forecast {
///     /// A city, such as `Bern`
///     city: String,
///     /// How many days; three if it is left out
///     days: Option<u32>,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Day {
///     high: f64,
///     sky: Sky,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// #[serde(rename_all = "lowercase")]
/// enum Sky {
///     Clear,
///     Rain,
/// }
///
/// fn weather() -> Capability {
///     Capability::new("weather").description("Weather of cities").function(
///         "get_forecast",
///         "The weather of the next days",
///         |params: Forecast| async move {
///             if params.city == "Atlantis" {
///                 return Err(CapabilityError::failed("there is no such city"));
///             }
///             let days = params.days.unwrap_or(3);
///             Ok((0..days).map(|day| Day { high: 20.0 + f64::from(day), sky: Sky::Clear }).collect::<Vec<_>>())
///         },
///     )
/// }
///
/// // What a script's author sees.
/// let declarations = weather().declarations()?;
/// assert!(declarations.contains("declare module '@capabilities/weather'"), "{declarations}");
/// assert!(declarations.contains("city: string"), "{declarations}");
///
/// // Compiling the engine takes seconds: once to a process.
/// # #[allow(dead_code)]
/// async fn run(engine: Engine) -> Result<(), Box<dyn std::error::Error>> {
///     let (mut interfaces, mut handlers) = (Interfaces::new()?, Handlers::new());
///     weather().add_to(&mut interfaces, &mut handlers)?;
///     let space = Space::new(engine, interfaces, handlers)?;
///     let program = space.prepare("agent.ts", "
///         import { weather } from '@capabilities/weather';
///         const days = await weather.getForecast({ city: 'Bern', days: 2 });
///         export default days.map((day) => day.high);
///     ")?;
///     let report = program.run(RunOptions::default()).await;
///     assert_eq!(report.outcome?, serde_json::json!([20, 21]));
///     Ok(())
/// }
/// # Ok::<(), agent_spaces::HostError>(())
/// ```
pub struct Capability {
    definition: Definition,
    specifier: Option<String>,
    handlers: Vec<Arc<Handler>>,
}

impl Capability {
    /// A capability without functions. Scripts import `trainSchedule` from `@capabilities/train-schedule`.
    pub fn new(name: impl Into<String>) -> Capability {
        let name = name.into();
        let definition = Definition {
            place: Place { file: format!("{name} (Rust)"), path: "$".to_owned() },
            name,
            description: String::new(),
            version: None,
            source: SourceKind::Tool,
            owner: None,
            tags: Vec::new(),
            functions: Vec::new(),
            config: Config::default(),
            notes: Vec::new(),
            is_single_function: false,
            is_own_format: true,
            server: None,
            component: None,
        };
        Capability { definition, specifier: None, handlers: Vec::new() }
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Capability {
        self.definition.description = description.into();
        self
    }

    /// Three numbers, such as `1.2.0`; `1.0.0` without it.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Capability {
        self.definition.version = Some(version.into());
        self
    }

    /// What scripts import it from, where that is not made from its name: `@company/internal-sdk`.
    #[must_use]
    pub fn module(mut self, specifier: impl Into<String>) -> Capability {
        self.specifier = Some(specifier.into());
        self
    }

    /// Adds a function. A function without parameters takes `()`.
    #[must_use]
    pub fn function<P, R, E, F, Answered>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Capability
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize + JsonSchema + 'static,
        E: Into<CapabilityError> + 'static,
        F: Fn(P) -> Answered + Send + Sync + 'static,
        Answered: Future<Output = Result<R, E>> + Send + 'static,
    {
        self.function_with(NativeFunction::new(name, description), move |params, _call| handler(params))
    }

    /// Adds a function with settings, whose closure also sees the call: the run that makes it, where to say how far it
    /// has come, what lives as long as the run. The call's `params` went into the first argument.
    #[must_use]
    pub fn function_with<P, R, E, F, Answered>(mut self, function: NativeFunction, handler: F) -> Capability
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize + JsonSchema + 'static,
        E: Into<CapabilityError> + 'static,
        F: Fn(P, Call) -> Answered + Send + Sync + 'static,
        Answered: Future<Output = Result<R, E>> + Send + 'static,
    {
        let (parameters, returns) = (schema::parameters::<P>(), schema::result::<R>());
        let place = self.definition.place.clone();
        self.definition.functions.push(function.into_definition(parameters, returns, place));
        self.handlers.push(handler::typed(handler));
        self
    }

    /// Its TypeScript declarations.
    pub fn declarations(&self) -> Result<String, HostError> {
        self.compile().map(|module| emit::dts::dts(&module))
    }

    /// Its WIT.
    pub fn wit(&self) -> Result<String, HostError> {
        self.compile().map(|module| emit::wit::wit(&module, &wit::plan(&module)))
    }

    /// Gives it to a space: its interface, and its closures to answer it.
    ///
    /// # Errors
    ///
    /// There is no function in it, two have one name, a type has no use as parameters, or another capability of its name
    /// is there already. Then nothing was added.
    pub fn add_to(self, interfaces: &mut Interfaces, handlers: &mut Handlers) -> Result<(), HostError> {
        let module = self.compile()?;
        interfaces.add_package(Package::new(module.clone()))?;
        for capability in &module.capabilities {
            let interface = interface_name(&module, &capability.interface);
            // The compiler keeps the order of functions.
            for (function, handler) in capability.functions.iter().zip(&self.handlers) {
                let native = Native { name: capability.name.clone(), handler: handler.clone() };
                handlers.provide_function(&interface, &function.wit_name, Arc::new(native));
            }
        }
        Ok(())
    }

    fn compile(&self) -> Result<Module, HostError> {
        let fail = |message: String| HostError::Wit { file: self.definition.place.file.clone(), message };
        let mut known = HashSet::new();
        if let Some(twice) = self.definition.functions.iter().find(|function| !known.insert(&function.name)) {
            return Err(fail(format!("the function `{}` is there twice: rename or remove one of the two", twice.name)));
        }
        let definitions = vec![self.definition.clone()];
        let source = ModuleSource { specifier: self.specifier.clone(), stem: None, definitions };
        compile(source).map_err(|error| fail(error.to_string()))
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions: Vec<&str> = self.definition.functions.iter().map(|function| function.name.as_str()).collect();
        formatter
            .debug_struct("Capability")
            .field("name", &self.definition.name)
            .field("functions", &functions)
            .finish()
    }
}

/// One function of a capability.
struct Native {
    name: String,
    handler: Arc<Handler>,
}

impl Provider for Native {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Native
    }

    fn description(&self) -> String {
        format!("{} in Rust of the host", self.name)
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        (self.handler)(call)
    }
}
