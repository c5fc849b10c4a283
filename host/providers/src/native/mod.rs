//! Native provider: capabilities as Rust closures over the host's own types, through serde and schemars.
//!
//! - [`Capability`]: builder of a capability, compiled to a module as all definitions are.
//! - `function`: metadata and settings of one function.
//! - `schema`: JSON Schemas of types.
//! - `handler`: conversion between JSON and types.

mod function;
mod handler;
mod schema;

pub use function::NativeFunction;

use agent_spaces_calls::call::Call;
use agent_spaces_calls::handlers::{Handler, Handlers};
use agent_spaces_calls::provider::{Answering, Provider};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::package::{Package, interface_name};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_space::extension::Extension;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::provider_kind::ProviderKind;
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

/// Capability whose functions are closures.
///
/// Parameters and results are Rust types; their `JsonSchema` declares what scripts pass and get. Doc comments become
/// descriptions, an `Option` is an optional member, enums become unions. Parameters are validated against the schema
/// before a closure sees them; policies, approvals, rate limits, events and accounting are the same as for every other
/// capability.
///
/// ```
/// # mod agent_spaces {
/// #     pub use agent_spaces_providers::Capability;
/// #     pub use agent_spaces_sandbox::engine::Engine;
/// #     pub use agent_spaces_sandbox::error::HostError;
/// #     pub use agent_spaces_sandbox::run::RunOptions;
/// #     pub use agent_spaces_space::space::Space;
/// #     pub use agent_spaces_types::capability_error::CapabilityError;
/// # }
/// use schemars::JsonSchema;
/// use agent_spaces::{Capability, CapabilityError, Engine, RunOptions, Space};
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
/// // The declarations that a script's author sees.
/// let declarations = weather().declarations()?;
/// assert!(declarations.contains("declare module '@capabilities/weather'"), "{declarations}");
/// assert!(declarations.contains("city: string"), "{declarations}");
///
/// // Compiling the engine takes seconds: do it once per process.
/// # #[allow(dead_code)]
/// async fn run(engine: Engine) -> Result<(), Box<dyn std::error::Error>> {
///     let space = Space::builder(&engine).capability(weather()).build()?;
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
    /// Creates a capability without functions. Scripts import `trainSchedule` from `@capabilities/train-schedule`.
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

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Capability {
        self.definition.description = description.into();
        self
    }

    /// Sets the version: three numbers, such as `1.2.0`. The default is `1.0.0`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Capability {
        self.definition.version = Some(version.into());
        self
    }

    /// Sets the module specifier, instead of one derived from the name: `@company/internal-sdk`.
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

    /// Adds a function with settings, whose closure also gets the [`Call`]: its run, a progress reporter, and state that
    /// lives as long as the run. The call's `params` are moved into the first argument.
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

    /// Returns the TypeScript declarations.
    pub fn declarations(&self) -> Result<String, HostError> {
        self.compile().map(|module| emit::dts::dts(&module))
    }

    /// Returns the WIT.
    pub fn wit(&self) -> Result<String, HostError> {
        self.compile().map(|module| emit::wit::wit(&module, &wit::plan(&module)))
    }

    fn compile(&self) -> Result<Module, HostError> {
        let fail = |message: String| HostError::Wit { file: self.definition.place.file.clone(), message };
        let mut known = HashSet::new();
        if let Some(twice) = self.definition.functions.iter().find(|function| !known.insert(&function.name)) {
            return Err(fail(format!(
                "the function `{}` is defined twice: rename or remove one of the two",
                twice.name
            )));
        }
        let definitions = vec![self.definition.clone()];
        let source = ModuleSource { specifier: self.specifier.clone(), stem: None, definitions };
        compile(source).map_err(|error| fail(error.to_string()))
    }
}

impl Extension for Capability {
    /// Adds the interface and its handlers to those of a space.
    ///
    /// # Errors
    ///
    /// If there is no function, two have the same name, a type cannot be used as parameters, or a capability of the same
    /// name was added before. Then nothing is added.
    fn add_to(self, interfaces: &mut Interfaces, handlers: &mut Handlers) -> Result<(), HostError> {
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

/// Provider of one function.
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
