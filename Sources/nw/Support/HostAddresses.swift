import Causeway
import CausewayRuntime
import CausewaySystem

/// Resolves a host to addresses, in the order in which to try them. For commands that need addresses and not an
/// `NWConnection`.
func addresses(ofHost host: String, family: SocketAddress.Family?) async throws -> [SocketAddress] {
    let inquiry = await NameQuery.addresses(of: host, family: family)
    guard !inquiry.addresses.isEmpty else { throw inquiry.failure?.networkError ?? .posix(.EADDRNOTAVAIL) }
    return inquiry.addresses.map(\.address)
}
