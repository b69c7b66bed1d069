internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Finds NAT64 addresses for IPv4 hosts on an IPv6-only network (RFC 6052), for programs that do not use connections.
///
/// Connections do this themselves: see `Connector.translate`.
package enum AddressTranslation {
    /// Returns the NAT64 addresses of the hosts. The result is empty if a host is reachable directly, or if the network
    /// has no NAT64 translator.
    ///
    /// The translator's prefix comes from router advertisements (RFC 8781), or from DNS if there are none (RFC 7050).
    ///
    /// Cancellation: ends the lookup; the result is empty.
    package static func addresses(for hosts: [SocketAddress]) async -> [SocketAddress] {
        let stranded = hosts.filter { $0.family == .ipv4 && !$0.isLoopback }
        guard stranded.count == hosts.count, !hosts.isEmpty,
            SourceAddress.toward(stranded).allSatisfy({ $0 == nil }), let network = network()
        else { return [] }
        AdvertisedTranslators.shared.listen()
        var prefixes = AdvertisedTranslators.shared.prefixes()
        if prefixes.isEmpty { prefixes = await discovered(in: network) }
        return prefixes.flatMap { prefix in
            stranded.compactMap { address in
                guard case .ipv4(let host) = address.internetAddress, let translated = prefix.synthesize(host) else {
                    return nil
                }
                return SocketAddress(translated, port: address.port)
            }
        }
    }

    /// Returns the first 64 bits of the source address for packets to the internet. All hosts on one link share these
    /// bits. `nil` if there is no IPv6 route.
    ///
    /// The result is the cache partition for the translator's prefix. Each network has its own translator, so an answer
    /// that was cached on another network must not be used (RFC 7050 §3).
    static func network(over interface: String? = nil) -> UInt64? {
        let somewhere = SocketAddress.ipv6(high: TranslationPrefix.wellKnown.high, low: 0, port: 9, scope: 0)
        guard case .ipv6(let source) = SourceAddress.toward([somewhere], over: interface)[0]?.address else {
            return nil
        }
        return source.high
    }

    private static func discovered(in network: UInt64) async -> [TranslationPrefix] {
        // The trailing dot prevents the resolver from adding search domains.
        let name = "\(TranslationPrefix.wellKnownName)."
        let inquiry = await NameQuery.addresses(of: name, family: .ipv6, partition: network)
        let answers = inquiry.addresses.compactMap { found -> IPv6Address? in
            if case .ipv6(let address) = found.address.internetAddress { address } else { nil }
        }
        return TranslationPrefix.discovered(in: answers)
    }
}
