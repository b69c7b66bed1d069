package import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
package import CausewayTypes
internal import CausewayWire

/// The result of a host lookup for a reachability check.
package enum HostFinding: Sendable {
    /// The addresses, at least one.
    case addresses([NWEndpoint.Host])
    /// The name does not exist, or has no address.
    case absent
    /// The lookup failed: no server replied, or the servers replied with errors.
    case unknown

    /// Looks up a name's addresses, as a connection does.
    ///
    /// - Parameters:
    ///   - name: A name, not an address.
    ///   - then: Called once, on any thread, unless the lookup is cancelled.
    /// - Returns: A closure that cancels the lookup.
    package static func find(_ name: String, then: @escaping @Sendable (HostFinding) -> Void) -> @Sendable () -> Void {
        let found = LockedValue<[NWEndpoint.Host]>([])
        let resolution = ResolverEngine.shared.resolve(NameRequest(name)) { event in
            switch event {
            case .found(let addresses, _, _):
                found.withLock { $0 += addresses.compactMap(\.host) }
            case .settled, .answered: break
            case .ended(let problem): then(HostFinding(found.withLock { $0 }, problem))
            }
        }
        return { resolution.cancel() }
    }

    /// Returns the result for a name that needs no query, such as `localhost` or a name in the hosts file; otherwise
    /// `nil`. May read that file, so do not call this method on an event loop.
    package static func known(_ name: String) -> HostFinding? {
        guard let events = ResolverEngine.shared.known(NameRequest(name), mayRead: true) else { return nil }
        var (found, problem): ([NWEndpoint.Host], NameProblem?) = ([], nil)
        for event in events {
            switch event {
            case .found(let addresses, _, _): found += addresses.compactMap(\.host)
            case .settled, .answered: break
            case .ended(let end): problem = end
            }
        }
        return HostFinding(found, problem)
    }

    /// Whether the name is resolved with multicast DNS, which works without a route.
    package static func isOfLink(_ name: String) -> Bool { DNSName.host(name)?.name.isOfLink ?? false }

    /// Creates the result of a lookup from the addresses that it found, and from its error. `problem` is `nil` if there
    /// was no error.
    package init(_ addresses: [NWEndpoint.Host], _ problem: NameProblem?) {
        guard addresses.isEmpty else {
            self = .addresses(addresses)
            return
        }
        switch problem {
        case nil, .notFound?, .invalidName?: self = .absent
        case .timedOut?, .refused?, .connectionRefused?, .serverFailure?, .unreachable?: self = .unknown
        }
    }
}

extension SocketAddress {
    fileprivate var host: NWEndpoint.Host? { internetAddress.map { NWEndpoint.Host($0) } }
}

extension NWEndpoint.Host {
    fileprivate init(_ address: InternetAddress) {
        switch address {
        case .ipv4(let ipv4): self = .ipv4(ipv4)
        case .ipv6(let ipv6): self = .ipv6(ipv6)
        }
    }
}
