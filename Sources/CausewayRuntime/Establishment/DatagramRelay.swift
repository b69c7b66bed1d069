package import CausewayTypes

/// A relay for datagrams that a proxy has been asked for. It lasts as long as the connection to the proxy.
///
/// Confined to a loop except for ``cancel()``.
package protocol DatagramRelay: AnyObject, Sendable {
    /// How the connection to the proxy was established, or failed to be.
    var facts: EstablishmentFacts { get }

    /// Connects to the proxy. Calls `opened` once.
    func begin(_ opened: @escaping RelayOpened)

    /// Calls `ended` when the proxy stops relaying: at once if it has stopped already.
    func watch(_ ended: @escaping @Sendable (Failure) -> Void)

    /// Ends the connection to the proxy. From any thread.
    func cancel()
}

/// Takes the address that relayed datagrams are sent to, or the reason why there is none.
package typealias RelayOpened = @Sendable (Result<Connector.Target, Failure>) -> Void

/// A request to a proxy for a relay. The code that speaks with the proxy uses whole connections, so it lies above this folder and supplies
/// the closure.
package struct RelayRequest: Sendable {
    typealias Associate = @Sendable (SocketSettings, any EventLoop, any NameResolver) -> any DatagramRelay

    let proxy: Connector.Target
    let associate: Associate

    init(_ proxy: Connector.Target, _ associate: @escaping Associate) {
        (self.proxy, self.associate) = (proxy, associate)
    }
}
