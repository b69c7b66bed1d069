internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Finds NAT64 addresses for IPv4 hosts on an IPv6-only network (RFC 6052), for programs that do not use connections.
///
/// Connections do this themselves: see `Connector.translate`.
package enum AddressTranslation {
    /// Returns the hosts' NAT64 addresses. The result is empty if a host is reachable directly, or if the network has
    /// no NAT64 translator.
    ///
    /// The prefix comes from router advertisements (RFC 8781), otherwise from DNS (RFC 7050).
    ///
    /// Cancellation: ends the lookup; the result is empty.
    package static func addresses(for hosts: [SocketAddress]) async -> [SocketAddress] {
        let stranded = hosts.filter { $0.family == .ipv4 && !$0.isLoopback }
        guard stranded.count == hosts.count, !hosts.isEmpty,
            SourceAddress.toward(stranded).allSatisfy({ $0 == nil }), hasWayOut
        else { return [] }
        AdvertisedTranslators.shared.listen()
        var prefixes = AdvertisedTranslators.shared.prefixes()
        if prefixes.isEmpty { prefixes = await discovered() }
        return prefixes.flatMap { prefix in
            stranded.compactMap { address in
                guard case .ipv4(let host) = address.internetAddress, let translated = prefix.synthesize(host) else {
                    return nil
                }
                return SocketAddress(translated, port: address.port)
            }
        }
    }

    /// Whether this host has an IPv6 route to the Internet.
    private static var hasWayOut: Bool {
        let somewhere = SocketAddress.ipv6(high: TranslationPrefix.wellKnown.high, low: 0, port: 9, scope: 0)
        return SourceAddress.toward([somewhere])[0] != nil
    }

    private static func discovered() async -> [TranslationPrefix] {
        // The trailing dot prevents the resolver from adding search domains.
        let inquiry = await NameQuery.addresses(of: "\(TranslationPrefix.wellKnownName).", family: .ipv6)
        let answers = inquiry.addresses.compactMap { found -> IPv6Address? in
            if case .ipv6(let address) = found.address.internetAddress { address } else { nil }
        }
        return TranslationPrefix.discovered(in: answers)
    }
}
