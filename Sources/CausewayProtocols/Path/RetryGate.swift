internal import CausewayTypes
package import CausewayWire

/// What a connection that waits would need the network for.
package enum NetworkNeed: Equatable, Sendable {
    /// A way to one of these.
    case addresses([InternetAddress])
    /// A way to wherever the name leads, and somebody to ask for it.
    case name
    /// A link with neighbours.
    case link
    /// Nothing: what is asked for is on this host.
    case nothing
}

/// Decides when a connection that waits has a new chance: when what it needs is there and not as it was.
package struct RetryGate: Sendable {
    private struct Chance: Equatable, Sendable {
        var paths: [PathEvaluation] = []
        var nameServers: [InternetAddress] = []
        var links: [NetworkModel.Interface] = []
        var translators: [TranslationPrefix] = []
    }

    private let need: NetworkNeed
    private let constraints: PathConstraints
    private var last: Chance

    /// - Parameter model: The network as the connection found it.
    package init(_ need: NetworkNeed, _ constraints: PathConstraints, in model: NetworkModel) {
        self.need = need
        self.constraints = constraints
        last = Self.chance(need, constraints, in: model)
    }

    /// Whether there is a way at all.
    package var isSatisfied: Bool { Self.isSatisfied(last, need) }

    /// Returns whether to try again.
    package mutating func networkChanged(to model: NetworkModel) -> Bool {
        let chance = Self.chance(need, constraints, in: model)
        defer { last = chance }
        return chance != last && Self.isSatisfied(chance, need)
    }

    private static func isSatisfied(_ chance: Chance, _ need: NetworkNeed) -> Bool {
        switch need {
        case .addresses, .name: chance.paths.contains(where: \.isSatisfied)
        case .link: !chance.links.isEmpty
        case .nothing: false
        }
    }

    /// On a network of IPv6 alone an IPv4 host is reached by way of a translator (RFC 6052): wherever that is, the way to its usual
    /// prefix tells whether there is one to everywhere.
    private static func translated(_ addresses: [InternetAddress]) -> [InternetAddress] {
        guard addresses.contains(where: { $0.family == .ipv4 && !$0.isLoopback }) else { return [] }
        return [.ipv6(IPv6Address(high: 0x0064_FF9B_0000_0000, low: 0))]
    }

    private static func chance(_ need: NetworkNeed, _ constraints: PathConstraints, in model: NetworkModel) -> Chance {
        switch need {
        case .addresses(let addresses):
            let paths = addresses.map { model.path(to: $0, constraints) }
            guard !paths.contains(where: \.isSatisfied) else { return Chance(paths: paths) }
            let translated = translated(addresses)
            return Chance(
                paths: paths + translated.map { model.path(to: $0, constraints) },
                translators: translated.isEmpty ? [] : model.translators)
        case .name:
            return Chance(
                paths: [model.path(constraints)], nameServers: model.nameServers, translators: model.translators)
        case .link:
            let links = model.interfaces.filter { $0.isCarrying && !$0.isLoopback && constraints.permits($0) }
            return Chance(links: links.filter { !$0.addresses.isEmpty })
        case .nothing:
            return Chance()
        }
    }
}
