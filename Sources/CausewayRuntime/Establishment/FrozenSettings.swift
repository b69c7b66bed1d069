package import CausewayTypes

/// Creates the protocols above a connected flow, and returns them from bottom to top. Returns the failure if this is
/// not possible.
package typealias LayerMaker = @Sendable (Flow) -> Result<[StackLayer], Failure>

/// Settings that several connections share. For example, all connections that a listener accepts use one such object.
package final class FrozenSettings: Sendable {
    package let value: SocketSettings
    /// A copy of ``SocketSettings/connectsWithContent``. Each send reads this copy, because reading the original in
    /// ``value`` would copy the large settings structure.
    package let connectsWithContent: Bool
    /// Creates the protocols above the transport for one connection attempt; `nil` if there are none.
    package let makeLayers: LayerMaker?
    /// The routes in the order of attempts; empty if there is only the direct route.
    package let routes: [Route]
    /// Determines the routes when a connection starts; `nil` if they are already known.
    package let planner: (any RoutePlanner)?
    /// The list of a listener's unfinished handshakes. All connections from the listener share it.
    package let openings: UnfinishedOpenings?

    package init(
        _ value: SocketSettings, makeLayers: LayerMaker? = nil, routes: [Route] = [],
        planner: (any RoutePlanner)? = nil, openings: UnfinishedOpenings? = nil
    ) {
        self.value = value
        self.openings = openings
        connectsWithContent = value.connectsWithContent
        self.makeLayers = routes.first?.makeLayers ?? makeLayers
        self.routes = routes
        self.planner = planner
    }
}
