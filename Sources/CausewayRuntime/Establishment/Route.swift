package import CausewayTypes

/// A proxy that forwards HTTP requests without a tunnel.
///
/// Only the code that created the route knows the concrete type.
package protocol RequestForwarding: AnyObject, Sendable {}

/// A route to an endpoint: through a proxy, or directly if the proxies may be bypassed.
package struct Route: Sendable {
    package let target: Connector.Target
    /// Creates the protocols above the transport, including the tunnel through the proxy.
    package let makeLayers: LayerMaker
    /// The proxy to connect to; `nil` for the direct route.
    package let proxy: NWEndpoint?
    /// The number of bytes that the route adds to each datagram.
    package let overhead: Int
    /// The proxy that forwards HTTP requests on this route; `nil` for a tunnel and for the direct route.
    package let forwarder: (any RequestForwarding)?

    package init(
        _ target: Connector.Target, proxy: NWEndpoint?, overhead: Int = 0, forwarder: (any RequestForwarding)? = nil,
        makeLayers: @escaping LayerMaker
    ) {
        self.target = target
        self.proxy = proxy
        self.overhead = overhead
        self.forwarder = forwarder
        self.makeLayers = makeLayers
    }
}
