package import CausewayTypes

/// Creates the protocols above a connected flow, from the bottom up, or returns the failure.
package typealias LayerMaker = @Sendable (Flow) -> Result<[StackLayer], Failure>

/// Settings that several connections share, such as all connections that one listener accepts.
package final class FrozenSettings: Sendable {
    package let value: SocketSettings
    /// A copy of the value's property. It is read before each content, and the value is large to copy.
    package let connectsWithContent: Bool
    /// Creates the protocols above the transport for one attempt; `nil` when there are none.
    package let makeLayers: LayerMaker?
    /// The routes to try in order; empty if there is only the direct one.
    package let routes: [Route]
    /// Determines the routes when a connection starts, if they are not known earlier.
    package let planner: (any RoutePlanner)?
    /// The unfinished handshakes of connections that a listener has accepted.
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
