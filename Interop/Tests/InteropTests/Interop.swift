import Foundation
import Testing

/// Tests with other programs on networks: network namespaces, multicast, Bonjour, raw packets, packet filters and fixed
/// ports. Serialized, because they share the machine's interfaces, ports and processors.
///
/// The tests that need only loopback addresses are in ``LoopbackInterop``, which runs at the same time.
@Suite(.serialized)
struct Interop {
    /// Whether a test fails if a peer program is not installed.
    static let mustRun = ProcessInfo.processInfo.environment["CI"] == "true"

    @Test("Every peer is installed")
    func everyPeerIsInstalled() {
        let mustRun = Self.mustRun
        for peer in Peer.allCases where peer.path == nil {
            if mustRun {
                Issue.record("\(peer) is not installed, so its tests did not run")
            } else {
                print("SKIPPED: all tests with \(peer), which is not installed")
            }
        }
        if !TwoHosts.isAvailable {
            if mustRun {
                Issue.record("this host cannot create network namespaces, so tests with two hosts did not run")
            } else {
                print("SKIPPED: all tests with two hosts, which need root and ip(8)")
            }
        }
        if !Medium.hasIPv6 {
            if mustRun {
                Issue.record("this host has no IPv6, so its tests did not run")
            } else {
                print("SKIPPED: all tests over IPv6, which this host does not support")
            }
        }
    }
}
