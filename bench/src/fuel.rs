//! Fuel of every workload, checked by a test since it is the same on every machine.

use crate::bench::Bench;
use crate::workloads::{self, Workload};
use crate::{desk, spaces};
use agent_spaces::Space;
use anyhow::{Context, Result};

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let space = desk::space(&spaces::engine()?)?;
    for workload in workloads::all()? {
        let fuel = of(&workload, &space).await?;
        bench.report.add(&format!("fuel of {}", workload.title()), fuel as f64, "units");
    }
    Ok(())
}

async fn of(workload: &Workload, space: &Space) -> Result<u64> {
    let ready = workload.ready(space)?;
    let report = ready.run().await;
    ready.check(&report).with_context(|| workload.name.clone())?;
    Ok(report.usage.fuel)
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::workloads::{self, Kind};
    use crate::{desk, spaces};
    use std::collections::BTreeMap;
    use std::io::Write;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/fuel.json");
    /// Environment variable that records the measured fuel instead.
    const RECORD: &str = "AGENT_SPACES_RECORD_FUEL";
    const TOLERANCE: f64 = 0.03;

    type Fuel = BTreeMap<String, u64>;

    /// Workloads whose fuel depends on the engine and its bindings.
    async fn measured() -> Fuel {
        let space = desk::space(&spaces::engine().unwrap()).unwrap();
        let mut fuel = Fuel::new();
        for workload in workloads::all().unwrap() {
            let is_guarded = matches!(workload.kind, Kind::Kernel | Kind::Agent)
                || ["trivial", "trains", "parallel", "records"].contains(&workload.name.as_str());
            if is_guarded {
                fuel.insert(workload.name.clone(), of(&workload, &space).await.unwrap());
            }
        }
        fuel
    }

    /// Returns failures and notes.
    fn judge(recorded: &Fuel, measured: &Fuel) -> (Vec<String>, Vec<String>) {
        let (mut wrong, mut said) = (Vec::new(), Vec::new());
        for (name, now) in measured {
            let Some(was) = recorded.get(name) else {
                wrong.push(format!("{name} is not recorded: it takes {now}"));
                continue;
            };
            let ratio = *now as f64 / *was as f64;
            let change = format!("{name} takes {now} units of fuel, {:+.1} % of {was}", (ratio - 1.0) * 100.0);
            if ratio > 1.0 + TOLERANCE {
                wrong.push(change);
            } else if ratio < 1.0 - TOLERANCE {
                said.push(change);
            }
        }
        let gone = recorded.keys().filter(|name| !measured.contains_key(*name));
        wrong.extend(gone.map(|name| format!("{name} is recorded and no workload")));
        (wrong, said)
    }

    #[tokio::test]
    async fn no_workload_takes_more_fuel_than_recorded() {
        let measured = measured().await;
        assert!(measured.len() >= 12, "{measured:?}");
        if std::env::var_os(RECORD).is_some() {
            std::fs::write(FILE, format!("{}\n", serde_json::to_string_pretty(&measured).unwrap())).unwrap();
        }
        let recorded: Fuel = serde_json::from_slice(&std::fs::read(FILE).unwrap()).unwrap();
        let (wrong, said) = judge(&recorded, &measured);
        let advice =
            format!("record it: {RECORD}=1 cargo test --release -p agent-spaces-bench no_workload_takes_more_fuel");
        for less in said {
            // Bypasses the captured output: the test passes, but this should be seen.
            let _ = writeln!(std::io::stderr(), "{less}; {advice}");
        }
        assert!(wrong.is_empty(), "{}\nIf that is meant, {advice}", wrong.join("\n"));
    }

    #[test]
    fn more_than_three_per_cent_fails_and_less_is_noted() {
        let fuel = |a: u64| Fuel::from([("a".into(), a)]);
        for (now, wrong, said) in [(1000, 0, 0), (1029, 0, 0), (1031, 1, 0), (971, 0, 0), (969, 0, 1)] {
            let (is_wrong, is_said) = judge(&fuel(1000), &fuel(now));
            assert_eq!((is_wrong.len(), is_said.len()), (wrong, said), "{now}: {is_wrong:?} {is_said:?}");
        }
        assert_eq!(judge(&fuel(1000), &Fuel::new()).0, ["a is recorded and no workload"]);
        assert_eq!(judge(&Fuel::new(), &fuel(5)).0, ["a is not recorded: it takes 5"]);
    }
}
