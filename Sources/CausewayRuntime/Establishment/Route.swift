package import CausewayTypes

/// A route to an endpoint: through a proxy, or directly if the proxies may be bypassed.
package struct Route: Sendable {
    package let target: Connector.Target
    /// Creates the protocols above the transport, including the tunnel through the proxy.
    package let makeLayers: LayerMaker
    /// The proxy to connect to; `nil` for the direct route.
    package let proxy: NWEndpoint?
    /// The number of bytes that the route adds to each datagram.
    package let overhead: Int

    package init(
        _ target: Connector.Target, proxy: NWEndpoint?, overhead: Int = 0, makeLayers: @escaping LayerMaker
    ) {
        self.target = target
        self.proxy = proxy
        self.overhead = overhead
        self.makeLayers = makeLayers
    }
}
