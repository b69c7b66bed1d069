import Causeway
import CausewayRuntime
import CausewaySystem

/// A host's address, for the tools that send packets of their own.
struct HostAddress: Sendable {
    var socketAddress: SocketAddress
    var text: String

    var isIPv6: Bool { socketAddress.family == .ipv6 }

    /// Looks a host up.
    ///
    /// - Parameter family: `nil` for the first address that there is.
    static func find(_ host: String, family: SocketAddress.Family?) async throws -> HostAddress {
        do {
            if let literal = Self(literal: host) {
                guard family == nil || literal.socketAddress.family == family else {
                    throw CommandFailure("\(host) is of the other family")
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

    /// The host as this network reaches it: behind a translator where there is no IPv4, unless IPv4 was asked for.
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
