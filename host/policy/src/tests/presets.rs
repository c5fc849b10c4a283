use crate::{
    ApprovalSettings, DomainPattern, FilePolicy, FileSettings, NetworkSettings, Policy, Preset, PresetLimits, Settings,
};
use std::time::Duration;

fn of(preset: Option<Preset>) -> Policy {
    Policy::new(Settings { preset, ..Settings::default() })
}

fn with_network(preset: Option<Preset>, http: NetworkSettings) -> Policy {
    Policy::new(Settings { preset, http, ..Settings::default() })
}

fn listed(domain: &str) -> NetworkSettings {
    NetworkSettings { domains: Some(vec![DomainPattern::parse(domain).unwrap()]), ..NetworkSettings::default() }
}

#[test]
fn a_preset_sets_file_access_and_run_limits() {
    let limits = |seconds, megabytes: u64, calls| {
        Some(PresetLimits { time: Duration::from_secs(seconds), memory: megabytes << 20, calls })
    };
    for (preset, is_writable, file, total, limits) in [
        (None, true, 10_000_000, 100_000_000, None),
        (Some(Preset::Restrictive), false, 1_000_000, 10_000_000, limits(5, 32, 50)),
        (Some(Preset::Standard), true, 10_000_000, 100_000_000, limits(30, 64, 500)),
        (Some(Preset::Permissive), true, 100_000_000, 1_000_000_000, limits(600, 256, 10_000)),
    ] {
        let expected = FilePolicy { read: true, write: is_writable, max_file_bytes: file, max_total_bytes: total };
        assert_eq!(*of(preset).files(), expected, "{preset:?}");
        assert_eq!(of(preset).limits(), limits, "{preset:?}");
    }
}

#[test]
fn network_access_follows_preset_and_host_list() {
    let disabled = || Err("Network access is disabled".to_owned());
    let not_allowed = || Err("Domain \"a.com\" is not allowed".to_owned());
    let no_method = || Err("Method POST is not allowed".to_owned());
    let enabled = || NetworkSettings { enabled: Some(true), ..NetworkSettings::default() };
    for (preset, http, get, post) in [
        (None, NetworkSettings::default(), disabled(), disabled()),
        (None, listed("a.com"), Ok(()), no_method()),
        (None, listed("b.com"), not_allowed(), not_allowed()),
        (None, enabled(), not_allowed(), not_allowed()),
        (Some(Preset::Restrictive), listed("a.com"), disabled(), disabled()),
        (Some(Preset::Restrictive), NetworkSettings { enabled: Some(true), ..listed("a.com") }, Ok(()), no_method()),
        (Some(Preset::Standard), NetworkSettings::default(), disabled(), disabled()),
        (Some(Preset::Standard), listed("a.com"), Ok(()), no_method()),
        (Some(Preset::Standard), listed("*"), Ok(()), no_method()),
        (
            Some(Preset::Standard),
            NetworkSettings { methods: Some(vec!["POST".into()]), ..listed("a.com") },
            Err("Method GET is not allowed".to_owned()),
            Ok(()),
        ),
        (Some(Preset::Standard), NetworkSettings { enabled: Some(false), ..listed("a.com") }, disabled(), disabled()),
        (Some(Preset::Permissive), NetworkSettings::default(), Ok(()), Ok(())),
        (Some(Preset::Permissive), listed("a.com"), Ok(()), Ok(())),
        (Some(Preset::Permissive), listed("b.com"), not_allowed(), not_allowed()),
    ] {
        let policy = with_network(preset, http.clone());
        let check = |method| policy.network().check(method, "a.com").map_err(|refusal| refusal.to_string());
        assert_eq!(check("GET"), get, "{preset:?} {http:?}");
        assert_eq!(check("POST"), post, "{preset:?} {http:?}");
    }
}

#[test]
fn a_setting_overrides_only_its_own_preset_value() {
    let fs = FileSettings { write: Some(true), max_file_bytes: Some(7), ..FileSettings::default() };
    let policy = Policy::new(Settings { preset: Some(Preset::Restrictive), fs, ..Settings::default() });
    let expected = FilePolicy { read: true, write: true, max_file_bytes: 7, max_total_bytes: 10_000_000 };
    assert_eq!(*policy.files(), expected);
    let http = NetworkSettings { timeout: Some(Duration::from_secs(1)), max_request_bytes: Some(5), ..listed("a.com") };
    let network = with_network(None, http).network().clone();
    assert_eq!((network.timeout, network.max_request_bytes), (Duration::from_secs(1), 5));
    assert_eq!(network.max_response_bytes, 10 << 20);
}

#[test]
fn approvals_have_defaults_and_an_upper_bound() {
    let approvals = of(None).approvals();
    assert_eq!(
        (approvals.expires, approvals.counts_time, approvals.max_pending),
        (Duration::from_secs(600), false, 20)
    );
    let set =
        ApprovalSettings { max_pending: Some(1000), counts_time: Some(true), expires: Some(Duration::from_secs(5)) };
    let approvals = Policy::new(Settings { approvals: set, ..Settings::default() }).approvals();
    assert_eq!((approvals.expires, approvals.counts_time, approvals.max_pending), (Duration::from_secs(5), true, 20));
}
