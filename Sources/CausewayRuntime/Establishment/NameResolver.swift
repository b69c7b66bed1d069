package import CausewaySystem
internal import Dispatch
internal import Synchronization

/// Finds the addresses of a name without blocking its caller. The seam behind which resolvers are exchanged.
package protocol NameResolver: Sendable {
    /// Calls `completion` once, on any thread.
    func resolve(
        _ name: String, family: SocketAddress.Family?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameFailure>) -> Void)
}

/// The system's resolver, on threads of its own: it blocks, so it never runs on a loop or on the program's queue.
package struct SystemNameResolver: NameResolver {
    private static let queue = DispatchQueue(label: "causeway-resolver", attributes: .concurrent, target: .global())

    package init() {}

    package func resolve(
        _ name: String, family: SocketAddress.Family?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameFailure>) -> Void
    ) {
        Self.queue.async {
            completion(Result { () throws(NameFailure) in try SystemResolver.addresses(of: name, family: family) })
        }
    }
}
