internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Monitors the path of one connection. Determines which path changes to report to the program.
final class PathFollower: Sendable {
    private struct State: Sendable {
        /// The connection, or its Multipath TCP subflows; `nil` if the connection needs no network.
        var connections: [FollowedConnection]?
        /// The connections that were already known when the network last changed. Each contains the routing from the
        /// time when it was first seen.
        var known: [FollowedConnection] = []
        var isBound = false
        /// Whether the interface has lost the connection's address and has another address instead.
        var isRenumbered = false
        var tracker = PathTracker()
    }

    private let state: LockedValue<State>

    init(_ connections: [FollowedConnection]?) {
        state = LockedValue(State(connections: connections))
    }

    /// Returns the path reports for the program after a network change.
    ///
    /// The kernel may now route the connection's packets over another interface. In that case, the result also contains
    /// the interface that has the connection's local address. The caller can then bind the socket to it. While the
    /// connection keeps its addresses, later calls do not return this interface again.
    func networkChanged(
        to model: NetworkModel, subflowsNow: [FollowedConnection]?
    ) -> (PathTracker.Reports, home: NWInterface?) {
        state.withLock { state in
            if let subflowsNow { state.connections = subflowsNow }
            guard let connections = state.connections else { return (state.tracker.changed(to: .local), nil) }
            let known = state.known
            state.known = connections.map { connection in
                known.first { $0.local == connection.local && $0.remote == connection.remote }
                    ?? model.follow(connection)
            }
            let path = model.path(of: state.known)
            let mustBind = path.strays && !state.isBound
            if mustBind { state.isBound = true }
            return (state.tracker.changed(to: path), mustBind ? path.interface : nil)
        }
    }

    /// Returns whether packets can no longer reach the connection over its current path.
    func hasLostPath(in model: NetworkModel) -> Bool {
        state.withLock { state in !state.known.isEmpty && !model.path(of: state.known).isViable }
    }

    /// Replaces the set of monitored connections. Call this when the addresses of the connections have changed.
    func moved(to connections: [FollowedConnection]) {
        state.withLock { state in (state.connections, state.known, state.isBound) = (connections, [], false) }
    }

    /// Returns whether the connection's address was replaced on its interface since the previous call.
    func noteRenumbering(in model: NetworkModel) -> Bool {
        state.withLock { state in
            let was = state.isRenumbered
            state.isRenumbered = state.known.contains { model.isRenumbered($0) }
            return state.isRenumbered && !was
        }
    }

    /// Whether the interface has lost the connection's address and has another address instead. The value comes from
    /// the latest call of ``noteRenumbering(in:)``.
    var isRenumbered: Bool { state.withLock { $0.isRenumbered } }
}
