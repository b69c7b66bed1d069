internal import CausewayTypes
package import CausewayWire

/// Which addresses of a host the kernel's path manager should make subflows of (RFC 8684 §3.2), for what a program wants of
/// several networks.
///
/// It asks nobody: it is given a model of the network.
package struct MultipathPlan: Equatable, Sendable {
    package enum Service: Sendable {
        /// Networks besides the best one are a reserve.
        case handover
        /// All networks carry content.
        case everything
    }

    package var service: Service
    /// The interfaces that may be used, by name; `nil` for all.
    package var interfaces: Set<String>?

    package init(_ service: Service, interfaces: Set<String>? = nil) {
        self.service = service
        self.interfaces = interfaces
    }

    /// The endpoints for a network as it is now, those of the best way first, no more than the kernel takes.
    package func endpoints(in model: NetworkModel) -> [MultipathEndpoint] {
        let ways = model.waysToEverywhere(PathConstraints())
        // The best one of either family: an address of the other family on the same interface is no reserve.
        let best = ways.first?.interface.index
        let ranks = Dictionary(ways.enumerated().map { ($1.interface.index, $0) }) { first, _ in first }
        let candidates = model.interfaces.filter { candidate in
            candidate.isCarrying && !candidate.isHostItself && interfaces?.contains(candidate.interface.name) ?? true
        }
        let ranked = candidates.enumerated().sorted { one, other in
            (ranks[one.element.index] ?? .max, one.offset) < (ranks[other.element.index] ?? .max, other.offset)
        }
        let endpoints = ranked.map(\.element).flatMap { interface in
            addresses(of: interface).map { address in
                let isReserve = service == .handover && best != nil && interface.index != best
                return MultipathEndpoint(
                    address: address, interfaceIndex: interface.index,
                    usage: isReserve ? [.subflow, .backup] : .subflow)
            }
        }
        return Array(endpoints.prefix(MultipathEndpoint.limit))
    }

    /// One of each family: what reaches beyond the link and is meant for new connections.
    private func addresses(of interface: NetworkModel.Interface) -> [InternetAddress] {
        [InternetAddress.Family.ipv4, .ipv6].compactMap { family in
            interface.addresses.first { address in
                address.address.family == family && address.isUsable && address.scope == .universe
                    && !address.flags.contains(.deprecated) && !address.address.isLinkLocal
            }?.address.unscoped
        }
    }

    /// What has to be done so that the endpoints that were put become those that are wanted.
    package struct Changes: Equatable, Sendable {
        package var removed: [MultipathEndpoint] = []
        /// With the identifiers that they have, and a new usage.
        package var changed: [MultipathEndpoint] = []
        package var added: [MultipathEndpoint] = []
    }

    /// - Parameter put: Those of before, with the identifiers that the kernel gave them.
    package static func changes(from put: [MultipathEndpoint], to wanted: [MultipathEndpoint]) -> Changes {
        func isSame(_ one: MultipathEndpoint, _ other: MultipathEndpoint) -> Bool {
            one.address == other.address && one.interfaceIndex == other.interfaceIndex
        }
        var changes = Changes()
        for endpoint in put {
            guard let next = wanted.first(where: { isSame($0, endpoint) }) else {
                changes.removed.append(endpoint)
                continue
            }
            guard next.usage != endpoint.usage else { continue }
            var changed = endpoint
            changed.usage = next.usage
            changes.changed.append(changed)
        }
        changes.added = wanted.filter { endpoint in !put.contains { isSame($0, endpoint) } }
        return changes
    }
}
