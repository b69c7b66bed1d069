import Causeway
import CausewayRuntime
import CausewaySystem

/// A host's address, for commands that build their own packets.
struct HostAddress: Sendable {
    var socketAddress: SocketAddress
    var text: String

    var isIPv6: Bool { socketAddress.family == .ipv6 }

    /// Resolves a host name or address.
    ///
    /// - Parameter family: The address family; `nil` for the first address of any family.
    static func find(_ host: String, family: SocketAddress.Family?) async throws -> HostAddress {
        do {
            if let literal = Self(literal: host) {
                guard family == nil || literal.socketAddress.family == family else {
                    throw CommandFailure("\(host) is not an address of the family that -4 or -6 selects")
                }
                return await literal.reachable(family)
            }
            guard let first = try await addresses(ofHost: host, family: family).first else {
                throw CommandFailure("\(host) has no address")
            }
            return Self(first)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(host) has no address", error)
        }
    }

    /// Returns the address to use on this network. On an IPv6-only network with NAT64 an IPv4 address is translated, unless IPv4 was
    /// requested.
    func reachable(_ family: SocketAddress.Family?) async -> HostAddress {
        guard family == nil, !isIPv6,
            let translated = await AddressTranslation.addresses(for: [socketAddress]).first
        else { return self }
        return HostAddress(translated)
    }

    private init?(literal: String) {
        switch NWEndpoint.Host(literal) {
        case .ipv4(let address): self.init(SocketAddress(address, port: 0))
        case .ipv6(let address): self.init(SocketAddress(address, port: 0))
        default: return nil
        }
    }

    init(_ address: SocketAddress) {
        socketAddress = address
        text = address.internetAddress.map { "\($0)" } ?? ""
    }
}
