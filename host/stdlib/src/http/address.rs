//! Classification of IP addresses: public, private, never allowed (SSRF protection).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reachability of an IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Public internet.
    Public,
    /// Loopback or private network: only if the policy lists its host as private.
    Private,
    /// Never allowed: cloud metadata, multicast, and unassigned addresses.
    Never,
}

/// Classifies an address.
pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        // Metadata services of Azure and Alibaba; the first looks like a public address.
        [168, 63, 129, 16] | [100, 100, 100, 200] => Reach::Never,
        // This network, link-local (with the metadata service of most clouds), protocols, old relays, documentation,
        // benchmarks.
        [0, ..]
        | [169, 254, ..]
        | [192, 0, 0, _]
        | [192, 88, 99, _]
        | [192, 0, 2, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [198, 18..=19, ..] => Reach::Never,
        // Multicast, reserved and broadcast.
        [224..=255, ..] => Reach::Never,
        // Loopback, RFC 1918, and carrier-grade NAT (RFC 6598).
        [127, ..] | [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Reach::Private,
        _ => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Private,
        // NAT64: classify the embedded IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
            reach_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Metadata services of Amazon and Google.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => Reach::Never,
        [0xfc00..=0xfdff, ..] => Reach::Private,
        // Protocols, with Teredo among them, and 6to4: obsolete tunnels that hide an IPv4 address.
        [0x2001, 0..=0x1ff, ..] | [0x2002, ..] => Reach::Never,
        // Documentation.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Reach::Never,
        // Global unicast.
        [0x2000..=0x3fff, ..] => Reach::Public,
        // IPv4-mapped and similar, local NAT64 (64:ff9b:1::/48), link-local, site-local, multicast, the rest.
        _ => Reach::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(addresses: &[&str], expected: Reach) {
        for text in addresses {
            assert_eq!(reach(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn global_addresses_are_public() {
        all(
            &[
                "1.1.1.1",
                "8.8.8.8",
                "100.63.255.255",
                "100.128.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2001:200::1",
                "2606:4700:4700::1111",
                "2a00:1450:4001::1",
                "64:ff9b::808:808",
                "3fff:1000::1",
            ],
            Reach::Public,
        );
    }

    #[test]
    fn private_networks_are_private() {
        all(
            &[
                "127.0.0.1",
                "127.255.255.255",
                "10.0.0.0",
                "10.255.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "192.168.0.1",
                "100.64.0.0",
                "100.127.255.255",
                "::1",
                "fc00::1",
                "fdff:ffff::1",
                "64:ff9b::7f00:1",
                "64:ff9b::a00:1",
            ],
            Reach::Private,
        );
    }

    #[test]
    fn metadata_and_special_addresses_are_never_reachable() {
        all(
            &[
                "0.0.0.0",
                "0.255.255.255",
                "169.254.169.254",
                "169.254.0.1",
                "168.63.129.16",
                "100.100.100.200",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::2",
                "::7f00:1",
                "::127.0.0.1",
                "::8.8.8.8",
                "::ffff:127.0.0.1",
                "::ffff:8.8.8.8",
                "::ffff:0:127.0.0.1",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b:1::7f00:1",
                "64:ff9b:1::808:808",
                "64:ff9b:0:1::808:808",
                "100::1",
                "2001::1",
                "2001:0:7f00:1::",
                "2001:1ff::1",
                "2001:db8::1",
                "2002:7f00:1::1",
                "2002:808:808::1",
                "3fff::1",
                "5f00::1",
                "fe80::1",
                "febf::1",
                "fec0::1",
                "ff02::1",
                "fd00:ec2::254",
                "fd20:ce::254",
                "4000::1",
                "ffff::1",
            ],
            Reach::Never,
        );
    }
}
