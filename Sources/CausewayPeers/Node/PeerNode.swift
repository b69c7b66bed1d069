package import Causeway
internal import CausewayPeerProtocols
internal import CausewaySystem
internal import Dispatch

/// One local peer on the network: its listener, its advertisements, its browsers, and its groups.
///
/// All methods may be called from any thread. Every event and every call changes the state under the lock. A change can
/// request actions, such as writes and the delivery of events. The actions are performed in the order of the changes,
/// by one thread at a time, without the lock. Program code runs on the queue of a group, an advertisement or a browser.
package final class PeerNode: Sendable {
    package let local: LocalPeer
    /// The queue for connections, the listener and timers.
    let queue = DispatchQueue(label: "causeway.peers")
    private let core: LockedValue<NodeCore>
    let pins: PinWriter

    /// - Parameters:
    ///   - queueLimit: The maximum number of message bytes queued for one peer.
    ///   - hasDatagrams: Whether unreliable messages may use UDP.
    package convenience init(_ local: LocalPeer, queueLimit: Int = 64 << 20, hasDatagrams: Bool = true) {
        self.init(local, queueLimit, PeerPins(), nil, hasDatagrams: hasDatagrams)
    }

    /// Accepts peers by their recorded keys.
    ///
    /// - Throws: ``PeerFailure`` with `file` if the store cannot be read.
    package convenience init(
        _ local: LocalPeer, queueLimit: Int, _ trust: PeerTrust, _ store: PeerPinStore?
    ) throws(PeerFailure) {
        let known = try trust == .any ? nil : store?.load(trust.policy)
        self.init(local, queueLimit, known ?? PeerPins(trust.policy), trust == .any ? nil : store)
    }

    private init(
        _ local: LocalPeer, _ queueLimit: Int, _ known: PeerPins, _ store: PeerPinStore?, hasDatagrams: Bool = true
    ) {
        self.local = local
        pins = PinWriter(store)
        var configuration = PeerConfiguration()
        configuration.queueLimit = queueLimit
        if !hasDatagrams { configuration.features.remove(.udp) }
        let own = PeerInfo(key: local.peer.key, name: local.peer.name, publicKey: local.publicKey)
        var mesh = PeerMesh(own: own, configuration: configuration)
        mesh.trust(known)
        core = LockedValue(NodeCore(mesh))
    }

    deinit {
        let (listener, watch) = core.withLock { core in (core.service.listener, core.service.networkWatch) }
        listener?.cancel()
        watch?.cancel()
    }

    private static let living = LockedValue<[PeerIdentity: Weak]>([:])

    private struct Weak: Sendable {
        weak let node: PeerNode?
    }

    /// Returns the node of a local peer. Creates a node if there is none, or if the earlier node was released.
    package static func shared(for local: LocalPeer) -> PeerNode {
        living.withLock { living in
            if let node = living[local.peer]?.node { return node }
            living = living.filter { $0.value.node != nil }
            let node = PeerNode(local)
            living[local.peer] = Weak(node: node)
            return node
        }
    }

    /// Monotonic time, for `PeerMesh`.
    static var now: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }

    /// Changes the state and takes the actions of `PeerMesh`. Then performs the requested actions.
    ///
    /// The actions are performed later, in order, if another thread is performing actions, or if an action called this
    /// method. This may be after the method has returned. So a caller may rely on the result and on the state, but not
    /// on the actions.
    @discardableResult
    func apply<Result: Sendable>(_ change: (inout NodeCore, Duration) -> Result) -> Result {
        core.change(
            { core in
                let now = Self.now
                let result = change(&core, now)
                core.settle(self, at: now)
                return result
            }, perform: perform)
    }

    /// Gives `body` access to the part of the state that does not belong to `PeerMesh`. `body` must not call `PeerMesh`
    /// and must not request actions.
    func withCore<Result: Sendable>(_ body: (inout NodeCore) -> Result) -> Result {
        core.withLock { core in body(&core) }
    }

    /// Calls `completion` with the node's listening port as soon as the port is known. The port is 0 if the node cannot
    /// listen. The completion runs on the node's queue.
    package func whenListening(_ completion: @escaping @Sendable (UInt16) -> Void) {
        apply { core, now in
            core.whenListening(now) { [queue] core, _ in
                let port = core.service.port
                core.request(.run { queue.async { completion(port) } })
            }
        }
    }

    /// Cuts all connections, as a network loss does. Only tests call this method.
    package func cutLinks() {
        apply { core, _ in
            for line in core.lines.values { core.request(.cancel(line.link)) }
        }
    }

    /// Redirects new DTLS connections for unreliable messages to another endpoint. Only tests call this method.
    package func detourDatagrams(_ detour: (@Sendable (NWEndpoint) -> NWEndpoint)?) {
        // Release the old closure only after the lock was released. Its release can also release other objects, whose
        // code must not run under the lock.
        let old = withCore { core in
            defer { core.datagrams.detour = detour }
            return core.datagrams.detour
        }
        withExtendedLifetime(old) {}
    }

    /// Adds a peer's address, for example if no browser found the peer.
    package func learn(_ endpoint: NWEndpoint, of peer: PeerIdentity) {
        withCore { core in core.places.learn(endpoint, of: peer.key) }
    }
}
