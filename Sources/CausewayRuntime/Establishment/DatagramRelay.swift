package import CausewaySystem
package import CausewayTypes

/// A proxy's datagram relay. It exists as long as the connection to the proxy.
///
/// Confined to a loop, except for ``cancel()``.
package protocol DatagramRelay: AnyObject, Sendable {
    /// The history of the connection to the proxy. It is available whether the connection has succeeded or failed.
    var facts: EstablishmentFacts { get }

    /// Connects to the proxy and requests the relay. Calls `opened` once.
    func begin(_ opened: @escaping RelayOpened)

    /// Returns whether this address is permitted for the relay. Called on the loop.
    ///
    /// The address comes from a lookup of the host name in the proxy's reply. For example, a proxy on another host must
    /// not direct datagrams to this host's loopback address.
    func permits(_ address: SocketAddress) -> Bool

    /// Calls `ended` when the proxy stops relaying, or at once if it has already stopped.
    func watch(_ ended: @escaping @Sendable (Failure) -> Void)

    /// Closes the connection to the proxy, and with it the relay. May be called from any thread.
    func cancel()
}

/// Called with the relay's address for datagrams, or with the failure.
package typealias RelayOpened = @Sendable (Result<Connector.Target, Failure>) -> Void

/// A request that asks a proxy for a datagram relay.
///
/// Proxy protocols need complete connections, so their code is in a higher layer. That layer supplies the `Associate`
/// closure.
package struct RelayRequest: Sendable {
    typealias Associate = @Sendable (SocketSettings, any EventLoop, any NameResolver) -> any DatagramRelay

    let proxy: Connector.Target
    let associate: Associate

    init(_ proxy: Connector.Target, _ associate: @escaping Associate) {
        (self.proxy, self.associate) = (proxy, associate)
    }
}
