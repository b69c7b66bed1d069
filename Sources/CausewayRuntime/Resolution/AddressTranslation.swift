internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// The addresses of IPv4 hosts on a network of IPv6 alone, for programs that use no connections (RFC 6052).
///
/// Connections find them by themselves: see `Connector.translate`.
package enum AddressTranslation {
    /// The addresses under which hosts are reached behind the network's translator; empty where one of them is reached as it is, and
    /// where the network names no translator.
    ///
    /// The translator's prefix is what routers have said (RFC 8781), else what the DNS says (RFC 7050). Cancellation ends the look-up.
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

    /// Whether packets to the rest of the world would leave over IPv6.
    private static var hasWayOut: Bool {
        let somewhere = SocketAddress.ipv6(high: TranslationPrefix.wellKnown.high, low: 0, port: 9, scope: 0)
        return SourceAddress.toward([somewhere])[0] != nil
    }

    private static func discovered() async -> [TranslationPrefix] {
        // The last dot: domains of resolv.conf are not added.
        let inquiry = await NameQuery.addresses(of: "\(TranslationPrefix.wellKnownName).", family: .ipv6)
        let answers = inquiry.addresses.compactMap { found -> IPv6Address? in
            if case .ipv6(let address) = found.address.internetAddress { address } else { nil }
        }
        return TranslationPrefix.discovered(in: answers)
    }
}
