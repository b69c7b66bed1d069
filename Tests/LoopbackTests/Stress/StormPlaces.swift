import Causeway
import CausewayPeers
import CausewaySystem
import CausewayTestKit
import Foundation

/// What a storm of peers saw.
final class StormLog: Sendable {
    let connections = Counter()
    let messages = Counter()
    private let found = LockedValue<[String]>([])

    /// Whether a storm has blown long enough: until the deadline, and on a slow machine until a message has arrived.
    func isOver(_ deadline: Duration) -> Bool {
        let now = System.now
        return now >= deadline && (messages.value > 0 || now >= deadline + Patience.limit)
    }

    var violations: [String] { found.withLock { $0 } }

    func violated(_ text: String) { found.withLock { if $0.count < 20 { $0.append(text) } } }
}

/// Peers of one host that come and go, and tell each other where they are.
final class StormPlaces: Sendable {
    private struct Weak: Sendable {
        weak let node: PeerNode?
    }

    private let nodes = LockedValue<[ObjectIdentifier: Weak]>([:])

    /// Makes the address of a node known to the others, and theirs to it.
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
