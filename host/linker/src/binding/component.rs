//! Component encoder: the engine, then the binding against it, then the exports.
//!
//! The order needs no shims: the engine imports only functions that take no memory, so it comes
//! first; its memory serves the functions that the binding imports.

use super::shim::{function_import, type_import};
use super::types::{Declared, ExportedInterface, declare};
use super::unmetered;
use super::world::World;
use agent_spaces_sandbox::engine::EngineLayout;
use agent_spaces_sandbox::sandbox::ENGINE_IMPORT;
use agent_spaces_sandbox::sandbox::entry::RUNNER;
use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use wasm_encoder::{
    Alias, CanonicalOption, ComponentBuilder, ComponentExportKind, ComponentTypeRef, ComponentValType, ExportKind,
    ModuleArg, ModuleType,
};
use wasmparser::{Import, Parser, Payload};

/// Source of the engine's code.
#[derive(Clone, Copy)]
pub(super) enum EngineSource<'a> {
    /// From the host, compiled already.
    Import(&'a ModuleType),
    /// From the component itself.
    Inside(&'a [u8]),
}

/// Encodes a component.
pub(super) fn component(
    world: &World,
    engine: EngineSource<'_>,
    layout: &EngineLayout,
    binding: &[u8],
) -> Result<Vec<u8>> {
    let mut builder = ComponentBuilder::default();
    let declared = declare(&mut builder, &world.resolve, world.component)?;
    let mut parts = Parts { builder, declared, engine: 0, memory: 0, realloc: 0 };

    let module = match engine {
        EngineSource::Import(ty) => {
            let (index, encoder) = parts.builder.core_type(None);
            encoder.module(ty);
            parts.builder.import(ENGINE_IMPORT, ComponentTypeRef::Module(index))
        }
        EngineSource::Inside(wasm) => parts.builder.core_module_raw(None, wasm),
    };
    let unmetered = match engine {
        EngineSource::Import(_) => None,
        EngineSource::Inside(_) => {
            let module = parts.builder.core_module_raw(None, &unmetered::module());
            Some(parts.builder.core_instantiate(None, module, []))
        }
    };
    parts.instantiate_engine(module, &layout.imports, unmetered)?;
    let exported = std::mem::take(&mut parts.declared.exports);
    let module = parts.builder.core_module_raw(None, binding);
    let binding_instance = parts.instantiate_binding(module, binding, &exported)?;

    for interface in exported {
        parts.export(binding_instance, interface);
    }
    Ok(parts.builder.finish())
}

struct Parts {
    builder: ComponentBuilder,
    declared: Declared,
    engine: u32,
    memory: u32,
    realloc: u32,
}

impl Parts {
    fn core_export(&mut self, instance: u32, name: &str, kind: ExportKind) -> u32 {
        self.builder.core_alias_export(None, instance, name, kind)
    }

    fn memory_options(&self) -> Vec<CanonicalOption> {
        vec![CanonicalOption::UTF8, CanonicalOption::Memory(self.memory), CanonicalOption::Realloc(self.realloc)]
    }

    /// Aliases a function of an imported interface.
    fn imported(&mut self, interface: &str, function: &str) -> Result<u32> {
        let instance = self.declared.imports.iter().position(|name| name == interface);
        let instance = instance.with_context(|| format!("{interface} is not imported"))? as u32;
        Ok(self
            .builder
            .alias(None, Alias::InstanceExport { instance, kind: ComponentExportKind::Func, name: function }))
    }

    /// Instantiates the engine with the builtins and the scalar functions that it imports. `unmetered` is the instance
    /// that takes the place of a host that meters.
    fn instantiate_engine(&mut self, module: u32, imports: &[(String, String)], unmetered: Option<u32>) -> Result<()> {
        let mut arguments = Arguments::default();
        for (module, name) in imports {
            let function = match (module.as_str(), name.as_str()) {
                ("$root", "[waitable-set-new]") => self.builder.waitable_set_new(),
                ("$root", "[waitable-join]") => self.builder.waitable_join(),
                ("$root", "[subtask-drop]") => self.builder.subtask_drop(),
                ("$root", "[subtask-cancel]") => self.builder.subtask_cancel(false),
                ("$root", builtin) => bail!("the engine imports {builtin}, which the host does not know"),
                (interface, function) => match unmetered.filter(|_| interface == unmetered::METER) {
                    Some(instance) => self.core_export(instance, function, ExportKind::Func),
                    None => {
                        let function = self.imported(interface, function)?;
                        self.builder.lower_func(None, function, [])
                    }
                },
            };
            arguments.add(module, name, function);
        }
        let arguments = arguments.instances(&mut self.builder);
        self.engine = self.builder.core_instantiate(
            None,
            module,
            arguments.iter().map(|(name, index)| (name.as_str(), ModuleArg::Instance(*index))),
        );
        self.memory = self.core_export(self.engine, "memory", ExportKind::Memory);
        self.realloc = self.core_export(self.engine, "cabi_realloc", ExportKind::Func);
        Ok(())
    }

    /// Instantiates the binding with the engine and the interfaces' functions.
    fn instantiate_binding(&mut self, module: u32, wasm: &[u8], exported: &[ExportedInterface]) -> Result<u32> {
        let mut arguments = Arguments::default();
        for import in function_imports(wasm)? {
            if import.module == "env" {
                continue;
            }
            let function = match import.name.strip_prefix("[task-return]") {
                Some(name) => self.task_return(import.module, name, exported)?,
                None => {
                    let (name, is_async) = match import.name.strip_prefix("[async-lower]") {
                        Some(name) => (name, true),
                        None => (import.name, false),
                    };
                    let function = self.imported(import.module, name)?;
                    let mut options = self.memory_options();
                    options.extend(is_async.then_some(CanonicalOption::Async));
                    self.builder.lower_func(None, function, options)
                }
            };
            arguments.add(import.module, import.name, function);
        }
        let mut arguments = arguments.instances(&mut self.builder);
        arguments.push(("env".into(), self.engine));
        Ok(self.builder.core_instantiate(
            None,
            module,
            arguments.iter().map(|(name, index)| (name.as_str(), ModuleArg::Instance(*index))),
        ))
    }

    /// Lifts the functions of an interface and exports them.
    fn export(&mut self, binding: u32, interface: ExportedInterface) {
        let mut members = Vec::new();
        for (name, index) in &interface.types {
            members.push((type_import(name), ComponentExportKind::Type, *index));
        }
        for (name, ty) in &interface.functions {
            let lifted = format!("[async-lift]{}#{name}", interface.name);
            // The runner is the same in every sandbox, so the engine exports it itself.
            let (instance, function, callback) = match interface.name == RUNNER {
                true => (self.engine, "agent_spaces_run", "agent_spaces_run_callback"),
                false => (binding, lifted.as_str(), &*format!("[callback]{lifted}")),
            };
            let function = self.core_export(instance, function, ExportKind::Func);
            let callback = self.core_export(instance, callback, ExportKind::Func);
            let mut options = self.memory_options();
            options.extend([CanonicalOption::Async, CanonicalOption::Callback(callback)]);
            let lifted = self.builder.lift_func(None, function, *ty, options);
            members.push((function_import(name), ComponentExportKind::Func, lifted));
        }
        let shim = self.builder.component(None, interface.shim);
        let instance = self.builder.instantiate(None, shim, members);
        self.builder.export(interface.name.as_str(), ComponentExportKind::Instance, instance, None);
    }

    /// Declares the builtin through which an exported function returns.
    fn task_return(&mut self, module: &str, name: &str, exported: &[ExportedInterface]) -> Result<u32> {
        let interface = module.strip_prefix("[export]").unwrap_or(module);
        let result = exported.iter().find(|export| export.name == interface).and_then(|export| export.result(name));
        let result = result.with_context(|| format!("{interface} does not export {name}"))?;
        let options = [CanonicalOption::UTF8, CanonicalOption::Memory(self.memory)];
        Ok(self.builder.task_return(Some(result), options))
    }
}

impl ExportedInterface {
    /// The result type of a function.
    fn result(&self, function: &str) -> Option<ComponentValType> {
        self.results.get(function).copied().map(ComponentValType::Type)
    }
}

/// Core functions by the module and name they are imported under.
#[derive(Default)]
struct Arguments {
    order: Vec<String>,
    members: HashMap<String, Vec<(String, u32)>>,
}

impl Arguments {
    fn add(&mut self, module: &str, name: &str, function: u32) {
        if !self.members.contains_key(module) {
            self.order.push(module.to_owned());
        }
        self.members.entry(module.to_owned()).or_default().push((name.to_owned(), function));
    }

    fn instances(self, builder: &mut ComponentBuilder) -> Vec<(String, u32)> {
        let mut instances = Vec::new();
        for module in self.order {
            let members = &self.members[&module];
            let exports = members.iter().map(|(name, index)| (name.as_str(), ExportKind::Func, *index));
            instances.push((module.clone(), builder.core_instantiate_exports(None, exports)));
        }
        instances
    }
}

fn function_imports(wasm: &[u8]) -> Result<Vec<Import<'_>>> {
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ImportSection(section) = payload? {
            let imports = section.into_imports().collect::<Result<Vec<_>, _>>()?;
            return Ok(imports
                .into_iter()
                .filter(|import| matches!(import.ty, wasmparser::TypeRef::Func(_)))
                .collect());
        }
    }
    Ok(Vec::new())
}
