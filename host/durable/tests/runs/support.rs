//! A shop whose payments are counted.

use agent_spaces_calls::handlers::Handlers;
use agent_spaces_journal::{SqliteStore, Store};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_sandbox::engine::{Engine, EngineConfig};
use agent_spaces_space::space::Space;
use std::sync::{Arc, Mutex, OnceLock};
use tempfile::TempDir;

const WIT: &str = "package test:shop@1.0.0;
interface shop {
    use agent-spaces:host/types@0.1.0.{capability-error};
    record params { item: u32 }
    pay: async func(params: params) -> result<u32, capability-error>;
}";

/// The engine of this process.
pub(crate) fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineConfig::default()).unwrap()).clone()
}

pub(crate) struct Shop {
    folder: TempDir,
    paid: Arc<Mutex<Vec<u64>>>,
}

impl Shop {
    pub(crate) fn new() -> Shop {
        Shop { folder: TempDir::new().unwrap(), paid: Arc::default() }
    }

    /// Opens the store.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.folder.path(), Default::default()).unwrap())
    }

    /// A space whose payments succeed.
    pub(crate) fn space(&self) -> Space {
        let mut interfaces = Interfaces::new().unwrap();
        interfaces.add("shop.wit", WIT).unwrap();
        let mut handlers = Handlers::new();
        let paid = self.paid.clone();
        handlers.add("test:shop/shop@1.0.0", "pay", move |call| {
            let item = call.params["item"].as_u64().unwrap();
            paid.lock().unwrap().push(item);
            async move { Ok((item * 10).into()) }
        });
        Space::builder(&engine()).interfaces(interfaces, handlers).build().unwrap()
    }

    /// Items that were paid, in order.
    pub(crate) fn paid(&self) -> Vec<u64> {
        self.paid.lock().unwrap().clone()
    }
}
