import Causeway
import CausewayPeers
import CausewaySystem
import CausewayTestKit
import Foundation

/// Records what the peers in a stress test observed.
final class StormLog: Sendable {
    let connections = Counter()
    let messages = Counter()
    private let found = LockedValue<[String]>([])

    /// Returns whether a stress run may end.
    ///
    /// The run may end after the deadline if at least one message has arrived. On a slow machine, no message may have
    /// arrived by then. The run then waits longer, up to a limit.
    func isOver(_ deadline: Duration) -> Bool {
        let now = System.now
        return now >= deadline && (messages.value > 0 || now >= deadline + Patience.limit)
    }

    var violations: [String] { found.withLock { $0 } }

    func violated(_ text: String) { found.withLock { if $0.count < 20 { $0.append(text) } } }
}

/// The nodes of peers on one host. Nodes come and go, and each node learns the addresses of the others from this
/// object.
final class StormPlaces: Sendable {
    private struct Weak: Sendable {
        weak let node: PeerNode?
    }

    private let nodes = LockedValue<[ObjectIdentifier: Weak]>([:])

    /// Tells all other nodes the address of `node`, and tells `node` their addresses.
    func add(_ node: PeerNode) {
        let place = Weak(node: node)
        let isNew = nodes.withLock { nodes in
            nodes = nodes.filter { $0.value.node != nil }
            return nodes.updateValue(place, forKey: ObjectIdentifier(node)) == nil
        }
        guard isNew else { return }
        node.whenListening { [self] number in
            guard let node = place.node, let own = Self.endpoint(number) else { return }
            for other in living where other !== node {
                let peer = other.local.peer
                other.learn(own, of: node.local.peer)
                other.whenListening { number in Self.endpoint(number).map { place.node?.learn($0, of: peer) } }
            }
        }
    }

    private static func endpoint(_ number: UInt16) -> NWEndpoint? {
        NWEndpoint.Port(rawValue: number).map { .hostPort(host: .ipv4(.loopback), port: $0) }
    }

    var living: [PeerNode] { nodes.withLock { nodes in nodes.values.compactMap(\.node) } }
}
