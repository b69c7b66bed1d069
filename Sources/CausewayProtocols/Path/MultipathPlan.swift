internal import CausewayTypes
package import CausewayWire

/// Selects local addresses for a requested multipath service. From these addresses, the kernel's path manager creates
/// subflows (RFC 8684 §3.2).
///
/// This type does no I/O: the caller passes a network model.
package struct MultipathPlan: Equatable, Sendable {
    package enum Service: Sendable {
        /// Only the best network carries data. All other networks are backups.
        case handover
        /// Every network carries data; there are no backup networks.
        case everything
    }

    package var service: Service
    /// Permitted interface names; `nil` for all.
    package var interfaces: Set<String>?

    package init(_ service: Service, interfaces: Set<String>? = nil) {
        self.service = service
        self.interfaces = interfaces
    }

    /// Returns the endpoints to announce on the current network. The endpoints of the best interface come first. If
    /// there are more endpoints than the kernel permits, the last ones are left out.
    package func endpoints(in model: NetworkModel) -> [MultipathEndpoint] {
        let ways = model.waysToEverywhere(PathConstraints())
        // Choose one best interface for both address families. With a separate choice for each family, an address on
        // the best interface could become a backup.
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

    /// Returns at most one address for each family: the first address that is global and not deprecated.
    private func addresses(of interface: NetworkModel.Interface) -> [InternetAddress] {
        [InternetAddress.Family.ipv4, .ipv6].compactMap { family in
            interface.addresses.first { address in
                address.address.family == family && address.isUsable && address.scope == .universe
                    && !address.flags.contains(.deprecated) && !address.address.isLinkLocal
            }?.address.unscoped
        }
    }

    /// The changes that turn the current endpoints into the wanted endpoints.
    package struct Changes: Equatable, Sendable {
        package var removed: [MultipathEndpoint] = []
        /// The endpoints whose usage changes. Their identifiers stay the same.
        package var changed: [MultipathEndpoint] = []
        package var added: [MultipathEndpoint] = []
    }

    /// Returns the changes that turn the kernel's current endpoints into the wanted endpoints.
    ///
    /// - Parameter put: The current endpoints, with the identifiers that the kernel assigned.
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
