package import CausewaySystem
package import CausewayWire
internal import Dispatch
internal import Synchronization

/// Finds the addresses of a name without blocking its caller. The seam behind which resolvers are exchanged.
package protocol NameResolver: Sendable {
    /// Calls `completion` once, on any thread.
    func resolve(
        _ name: String, family: SocketAddress.Family?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameFailure>) -> Void)

    /// Finds the addresses of a Bonjour service, with its port. Calls `completion` once, on any thread.
    func resolve(
        service instance: DNSName, interfaceIndex: Int?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameFailure>) -> Void)
}

extension NameResolver {
    /// By multicast DNS.
    package func resolve(
        service instance: DNSName, interfaceIndex: Int?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameFailure>) -> Void
    ) {
        _ = ServiceResolution.service(instance, on: interfaceIndex, completion)
    }
}

/// The system's resolver, on threads of its own: it blocks, so it never runs on a loop or on the program's queue. Names in `local`
/// are asked for by multicast.
package struct SystemNameResolver: NameResolver {
    private static let queue = DispatchQueue(label: "causeway-resolver", attributes: .concurrent, target: .global())

    package init() {}

    package func resolve(
        _ name: String, family: SocketAddress.Family?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameFailure>) -> Void
    ) {
        // Names of the link are nobody else's business (RFC 6762 §3, §22.1).
        if let host = DNSName(name), host.isWithin(.local), host != .local {
            _ = ServiceResolution.host(host, family: family, completion)
            return
        }
        Self.queue.async {
            completion(Result { () throws(NameFailure) in try SystemResolver.addresses(of: name, family: family) })
        }
    }
}
