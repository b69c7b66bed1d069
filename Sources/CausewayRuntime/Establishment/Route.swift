package import CausewayTypes

/// One way to an endpoint: through a proxy, or directly where there are proxies that may be passed over.
package struct Route: Sendable {
    package let target: Connector.Target
    /// Makes the protocols above the transport, the tunnel through the proxy among them.
    package let makeLayers: LayerMaker
    /// The proxy that is connected to; `nil` for the direct way.
    package let proxy: NWEndpoint?
    /// Bytes that the way takes of each datagram.
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
