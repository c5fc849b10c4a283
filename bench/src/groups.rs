//! Groups of measurements, in the order of the table.

use crate::bench::Bench;
use crate::*;
use std::pin::Pin;

type Measuring<'a> = Pin<Box<dyn Future<Output = anyhow::Result<()>> + 'a>>;

pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) measure: for<'a> fn(&'a mut Bench) -> Measuring<'a>,
}

const fn group(name: &'static str, what: &'static str, measure: for<'a> fn(&'a mut Bench) -> Measuring<'a>) -> Group {
    Group { name, what, measure }
}

pub(crate) const GROUPS: &[Group] = &[
    group("fresh", "a fresh run of `1 + 1` beside bare wasmtime", |bench| Box::pin(fresh::measure(bench))),
    group("workloads", "every workload in a fresh sandbox, ours and each peer's", |bench| {
        Box::pin(side_by_side::measure(bench))
    }),
    group(kernels::GROUP, "JavaScript that computes, beside engines of others", |bench| {
        Box::pin(kernels::measure(bench))
    }),
    group("hot", "the same as scripts and handlers that are kept compiled", |bench| Box::pin(hot::measure(bench))),
    group(agent_scripts::GROUP, "scripts as agents write them, executed for the first time", |bench| {
        Box::pin(agent_scripts::measure(bench))
    }),
    group("relative", "kernels as components of componentize-qjs", |bench| Box::pin(componentize_qjs::measure(bench))),
    group(waiting::GROUP, "a thousand runs that wait at once", |bench| Box::pin(waiting::measure(bench))),
    group("cores", "runs on all cores, and what a second thread adds", |bench| Box::pin(cores::measure(bench))),
    group("calls", "typed calls of several sizes", |bench| Box::pin(calls::measure(bench))),
    group("pipeline", "one typed call, beside imports of bare wasmtime", |bench| Box::pin(pipeline::measure(bench))),
    group("providers", "calls that handlers in sandboxes answer", |bench| Box::pin(providers::measure(bench))),
    group("metering", "what metering fuel costs", |bench| Box::pin(metering::measure(bench))),
    group("fuel", "the fuel of every workload", |bench| Box::pin(fuel::measure(bench))),
    group("import-sets", "interfaces that were never linked before", |bench| {
        Box::pin(async { import_sets::measure(bench) })
    }),
    group("spaces", "spaces of 10 to 5,000 functions", |bench| Box::pin(large_space::measure(bench))),
    group("mcp", "calls of an MCP server", |bench| Box::pin(mcp::measure(bench))),
    group("served", "`agent-spaces mcp serve` as an agent meets it", |bench| Box::pin(served::measure(bench))),
    group("service", "`agent-spaces serve` under load", |bench| Box::pin(service::measure(bench))),
    group("parked", "memory of runs that wait", |bench| Box::pin(parked::measure(bench))),
    group("durable", "the journal of durable runs", |bench| Box::pin(durable::measure(bench))),
    group("alone", "memory, page faults and instructions of a process", |bench| Box::pin(alone::measure(bench))),
    group("cli", "from the start of the command to a result", |bench| Box::pin(async { cli::measure(bench) })),
    group("disk", "what is on the disk", |bench| Box::pin(async { disk::measure(bench) })),
    group("clean-build", "the command built from nothing, with --clean-build", |bench| {
        Box::pin(async { clean_build::measure(bench) })
    }),
];

/// Returns the groups of these names; all if none is given.
pub(crate) fn wanted(names: &[String]) -> anyhow::Result<Vec<&'static Group>> {
    for name in names {
        let is_known = GROUPS.iter().any(|group| group.name == name);
        anyhow::ensure!(is_known, "unknown group {name}; see --list");
    }
    Ok(GROUPS.iter().filter(|group| names.is_empty() || names.iter().any(|name| name == group.name)).collect())
}
