internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// The interfaces for connections that were extracted from a group, if the group's settings limit the interfaces.
///
/// The group's sockets keep this object while such connections exist, so it may outlive the group. It follows the
/// network model itself. Before the first model arrives, no interface is permitted. Thread-safe.
final class PeerInterfaces: PeerLimits {
    private struct State: Sendable {
        var model: NetworkModel?
        var permitted: Set<Int> = []
        /// The results of ``outgoing(toward:)`` for the current model.
        var outgoing: [SocketAddress: UInt32?] = [:]
        var subscription: NetworkStateMonitor.Subscription?
    }

    /// The maximum number of stored results, because peers come and go while the network stays the same.
    private static let resultLimit = 1_024

    private let settings: SocketSettings
    private let state = LockedValue(State())

    init(_ settings: SocketSettings) {
        self.settings = settings
    }

    /// Adopts each network model of a monitor, until this object is released.
    func follow(_ monitor: NetworkStateMonitor) {
        let subscription = monitor.subscribe { [weak self] model in self?.changed(to: model) }
        state.withLock { state in state.subscription = subscription }
        // The monitor pauses after a slow snapshot and after a failed one, so its first report may come only after the
        // group is ready.
        monitor.perform { [weak self] in
            guard let self, self.state.withLock({ state in state.model == nil }) else { return }
            self.changed(to: monitor.model)
        }
    }

    func changed(to model: NetworkModel) {
        let permitted = model.permittedIndices(settings.pathConstraints)
        state.withLock { state in (state.model, state.permitted, state.outgoing) = (model, permitted, [:]) }
    }

    func accepts(from index: UInt32) -> Bool { state.withLock { state in state.permitted.contains(Int(index)) } }

    func outgoing(toward peer: SocketAddress) -> UInt32? {
        let (known, model, only) = state.withLock { state in
            (state.outgoing[peer], state.model, state.permitted.first)
        }
        if settings.requiredInterface != nil { return only.map { UInt32($0) } }
        if let known { return known }
        guard let model else { return nil }
        let found = settings.interface(toward: peer, in: model).map { UInt32($0) }
        state.withLock { state in
            // The network may have changed during the search.
            guard state.model === model else { return }
            if state.outgoing.count >= Self.resultLimit { state.outgoing = [:] }
            state.outgoing.updateValue(found, forKey: peer)
        }
        return found
    }
}
