internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// One path that is reported.
final class PathFollower: Sendable {
    private struct State: Sendable {
        /// `nil` if it needs no network.
        var connections: [FollowedConnection]?
        /// Those of them that were seen before, as they were then.
        var known: [FollowedConnection] = []
        var isBound = false
        /// Its address is gone, and there is another one.
        var isRenumbered = false
        var tracker = PathTracker()
    }

    private let state: LockedValue<State>

    init(_ connections: [FollowedConnection]?) {
        state = LockedValue(State(connections: connections))
    }

    /// Returns what to tell, and the interface to bind the connection to, the first time that it strays.
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

    /// Whether no packet of the connection can arrive any more.
    func hasLostPath(in model: NetworkModel) -> Bool {
        state.withLock { state in !state.known.isEmpty && !model.path(of: state.known).isViable }
    }

    /// The connection has other addresses from now on.
    func moved(to connections: [FollowedConnection]) {
        state.withLock { state in (state.connections, state.known, state.isBound) = (connections, [], false) }
    }

    /// Returns whether the connection's address was exchanged, if that is news.
    func noteRenumbering(in model: NetworkModel) -> Bool {
        state.withLock { state in
            let was = state.isRenumbered
            state.isRenumbered = state.known.contains { model.isRenumbered($0) }
            return state.isRenumbered && !was
        }
    }

    /// Whether it was exchanged, as far as is known.
    var isRenumbered: Bool { state.withLock { $0.isRenumbered } }
}
