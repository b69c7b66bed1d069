import Foundation
import Testing

/// All tests that run other programs. Serialized, because they share the machine's ports and processors.
@Suite(.serialized)
struct Interop {
    /// Whether a missing peer is a failure.
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

    /// A peer, the medium to reach it, and the amount of data.
    struct Case: CustomTestStringConvertible, Sendable {
        var peer: Peer
        var medium: Medium
        var payload: Payload

        var testDescription: String { "\(peer), \(medium), \(payload)" }

        static let all = Peer.present.flatMap { peer in
            Medium.present.flatMap { medium in
                Payload.allCases.map { Case(peer: peer, medium: medium, payload: $0) }
            }
        }
    }
}
