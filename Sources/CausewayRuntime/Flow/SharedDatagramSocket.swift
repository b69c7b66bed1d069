internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
internal import Synchronization

/// A bound datagram socket, together with the flows of its peers.
///
/// On a listener's socket, each new sender becomes a peer. On a group's socket, the program selects the peers.
/// Datagrams from all other senders go to the group.
///
/// Only the loop's thread reads the socket. The socket stays open while its listener or group exists, and while a flow
/// of any peer exists.
package final class SharedDatagramSocket: ReadinessHandler {
    /// Called on the loop's thread when a new peer appears, before the peer's first datagram is delivered. Return
    /// `false` to refuse the peer.
    package typealias NewPeer = @Sendable (SharedDatagramSocket, Flow, SocketAddress) -> Bool

    /// Called with datagrams from senders that are not registered as peers. Runs on the loop's thread.
    package typealias UnknownPeers = @Sendable (SharedDatagramSocket, [DatagramArrival]) -> Void

    struct State: ~Copyable {
        var flows: [SocketAddress: Flow] = [:]
        var sources: [SocketAddress: SocketAddress] = [:]
        var blocked: [any ReadinessHandler] = []
        var newPeer: NewPeer?
        var unknownPeers: UnknownPeers?
        var registration: Registration?
        var isOpen = true
        /// Whether the loop's thread is reading. If the descriptor were closed now, its number could be reused during
        /// the read.
        var isReading = false
        /// Whether reading is paused. While it is paused, the loop does not report arrivals.
        var isPausing = false
    }

    package let loop: any EventLoop
    let descriptor: CInt
    let tracksSource: Bool
    /// The interfaces for the peers of a group's socket; `nil` if all are permitted.
    let limits: (any PeerLimits)?
    /// Whether the kernel's receive buffer is large. A large buffer holds as many bytes as an inbox, so the kernel can
    /// store bursts of datagrams.
    let isDeep: Bool
    let state: LockedValue<State>
    let pace: LoopBound<ArrivalPace>
    let failures: LoopBound<ReadFailures>
    /// The timer that ends the current pause in reading, if there is one.
    let holdTimer: LoopBound<TimerID?>
    /// Whether a datagram was sent since the loop last reported an arrival.
    let hasSent = Atomic(false)

    /// - Parameters:
    ///   - descriptor: The bound socket.
    ///   - loop: The loop that watches and reads the socket.
    ///   - tracksSource: Whether replies to a peer are sent from the address to which the peer sent. Not needed for a
    ///     socket that is bound to one address.
    ///   - newPeer: Called for each new sender. Decides whether the sender becomes a peer.
    /// - Throws: The system error if the loop cannot watch the socket. The socket is then closed.
    package convenience init(
        _ descriptor: consuming Descriptor, on loop: any EventLoop, tracksSource: Bool, newPeer: @escaping NewPeer
    ) throws(SystemError) {
        try self.init(descriptor, on: loop, tracksSource: tracksSource, limits: nil, State(newPeer: newPeer))
    }

    /// Creates a group's socket: only ``adopt(_:source:)`` adds peers.
    ///
    /// - Parameter limits: The interfaces for these peers; `nil` if all are permitted.
    /// - Throws: The system error if the loop cannot watch the socket. The socket is then closed.
    convenience init(
        _ descriptor: consuming Descriptor, on loop: any EventLoop, limits: (any PeerLimits)? = nil,
        unknownPeers: @escaping UnknownPeers
    ) throws(SystemError) {
        try self.init(descriptor, on: loop, tracksSource: true, limits: limits, State(unknownPeers: unknownPeers))
    }

    private init(
        _ descriptor: consuming Descriptor, on loop: any EventLoop, tracksSource: Bool, limits: (any PeerLimits)?,
        _ start: consuming State
    ) throws(SystemError) {
        self.loop = loop
        self.descriptor = descriptor.release()
        self.tracksSource = tracksSource
        self.limits = limits
        isDeep = (try? Socket.get(.receiveBuffer, of: self.descriptor)).map { $0 >= DatagramInbox.byteLimit } ?? false
        pace = LoopBound(ArrivalPace(), to: loop)
        failures = LoopBound(ReadFailures(), to: loop)
        holdTimer = LoopBound(nil, to: loop)
        state = LockedValue(start)
        do {
            let registration = try loop.register(self.descriptor, for: .readable, self)
            state.withLock { state in state.registration = registration }
        } catch {
            Descriptor(adopting: self.descriptor).close()
            throw error
        }
    }

    /// Stops accepting peers. If there are peers, they keep the socket open, and this method calls `completion` at
    /// once. If there are none, this method closes the socket and calls `completion` when the port is free.
    package func stop(_ completion: @escaping @Sendable () -> Void = {}) {
        let closing = state.withLock { state -> Registration? in
            state.newPeer = nil
            state.unknownPeers = nil
            return state.takeRegistrationIfIdle()
        }
        close(closing, completion)
    }

    package var peerCount: Int { state.withLock { state in state.flows.count } }

    /// Makes a sender a peer: from now on, its datagrams go to the returned flow. Returns `nil` if the sender is
    /// already a peer, or if the socket's group has ended.
    ///
    /// - Parameters:
    ///   - peer: The sender.
    ///   - source: The address to which the sender sent, for use as the source of replies; `nil` for the kernel's
    ///     choice.
    package func adopt(_ peer: SocketAddress, source: SocketAddress?) -> Flow? {
        let flow = Flow(loop: loop, kind: .datagram)
        return state.withLock { state in
            guard state.unknownPeers != nil, state.flows[peer] == nil else { return nil }
            state.flows[peer] = flow
            state.sources[peer] = source
            return flow
        }
    }

    package func flow(of peer: SocketAddress) -> Flow? { state.withLock { state in state.flows[peer] } }

    package func holds(_ flow: Flow) -> Bool {
        state.withLock { state in state.flows.values.contains { $0 === flow } }
    }

    func forget(_ peer: SocketAddress) {
        var flow: Flow?
        let closing = state.withLock { state -> Registration? in
            flow = state.flows.removeValue(forKey: peer)
            state.sources[peer] = nil
            return state.takeRegistrationIfIdle()
        }
        withExtendedLifetime(flow) {}
        close(closing)
    }

    func close(_ registration: Registration?, _ completion: @escaping @Sendable () -> Void = {}) {
        guard let registration else { return completion() }
        loop.close(registration, Descriptor(adopting: descriptor), completion)
    }

    func source(for peer: SocketAddress) -> SocketAddress? {
        tracksSource ? state.withLock { state in state.sources[peer] } : nil
    }

    func send(_ packets: UnsafeBufferPointer<OutgoingPacket>, to peer: SocketAddress) -> IOResult {
        var interface: UInt32 = 0
        if let limits {
            guard let permitted = limits.outgoing(toward: peer) else { return .failed(Errno.networkUnreachable) }
            interface = permitted
        }
        noteSending()
        return Socket.send(descriptor, packets, to: peer, from: source(for: peer), over: interface)
    }

    func awaitWritable(_ sender: any ReadinessHandler) {
        let registration = state.withLock { state in
            state.blocked.append(sender)
            return state.isOpen ? state.registration : nil
        }
        guard let registration else { return }
        updateInterest(registration)
        loop.await(.writable, of: registration)
    }

    /// Records that the program has sent a datagram. The peer may reply soon. So reading must not pause, because this
    /// would delay the reply.
    func noteSending() {
        if !hasSent.load(ordering: .relaxed) { hasSent.store(true, ordering: .relaxed) }
    }

    /// Tells the loop which socket events to report. Repeats this if another thread changes the wanted events during
    /// the call.
    func updateInterest(_ registration: Registration) {
        var told: Readiness?
        while true {
            let wanted = state.withLock { state in state.interest }
            guard wanted != told else { return }
            loop.update(registration, descriptor, for: wanted)
            told = wanted
        }
    }

    // MARK: On the loop's thread

    package func ready(for readiness: Readiness) {
        if readiness.contains(.writable) { resumeBlocked() }
        if readiness.touches([.readable, .failed]) { arrived() }
    }

    private func resumeBlocked() {
        let (blocked, registration) = state.withLock { state in
            defer { state.blocked = [] }
            return (state.blocked, state.isOpen ? state.registration : nil)
        }
        if let registration { updateInterest(registration) }
        for sender in blocked { sender.ready(for: .writable) }
    }

    func admit(_ peer: SocketAddress, _ source: SocketAddress?) -> Flow? {
        guard let newPeer = state.withLock({ state in state.newPeer }) else { return nil }
        let flow = Flow(loop: loop, kind: .datagram)
        state.withLock { state in
            state.flows[peer] = flow
            if tracksSource, let source { state.sources[peer] = source }
        }
        guard newPeer(self, flow, peer) else {
            forget(peer)
            return nil
        }
        return flow
    }
}

/// The interfaces over which the peers of a shared socket may send and receive. Thread-safe.
protocol PeerLimits: Sendable {
    /// Returns whether a datagram that arrived over an interface is passed to its peer's flow.
    func accepts(from index: UInt32) -> Bool

    /// Returns the index of the interface for datagrams to a peer: 0 for the kernel's choice, and `nil` if no permitted
    /// interface leads to the peer.
    func outgoing(toward peer: SocketAddress) -> UInt32?
}

/// One or more datagrams that were received together from one sender on a group's socket.
package struct DatagramArrival: Sendable {
    var train: DatagramBatch.Train
    var peer: SocketAddress
    var info: PacketInfo
}

extension SharedDatagramSocket.State {
    /// The events that the loop must report for this socket.
    var interest: Readiness {
        var interest: Readiness = isPausing ? [] : .readable
        if !blocked.isEmpty { interest.insert(.writable) }
        return interest
    }

    mutating func beginRead() -> Registration? {
        guard isOpen else { return nil }
        isReading = true
        return registration
    }

    mutating func endRead() -> Registration? {
        isReading = false
        return takeRegistrationIfIdle()
    }

    mutating func takeRegistrationIfIdle() -> Registration? {
        guard newPeer == nil, unknownPeers == nil, flows.isEmpty, isOpen, !isReading else { return nil }
        isOpen = false
        return registration.take()
    }
}

extension Flow {
    /// The transport's local address and remote address; `nil` without a transport.
    ///
    /// If several peers share a socket, these are the addresses in this peer's datagrams.
    package var addresses: (local: SocketAddress?, remote: SocketAddress?)? {
        let transport = state.withLock { state in state.link.transport }
        return withDescriptor { fd in
            let local = Socket.localAddress(fd)
            guard case .peer(let shared, let peer) = transport else { return (local, Socket.peerAddress(fd)) }
            return (shared.source(for: peer)?.bound(to: local?.port ?? 0) ?? local, peer)
        }
    }
}

extension SocketAddress {
    /// Converts an address from a datagram's header to a socket address with a port. Keeps the scope only for a
    /// link-local address.
    fileprivate func bound(to port: UInt16) -> SocketAddress {
        switch self {
        case .ipv4(let bits, _): .ipv4(bits: bits, port: port)
        case .ipv6(let high, let low, _, let scope):
            // RFC 4291 §2.5.6: fe80::/10.
            .ipv6(high: high, low: low, port: port, scope: high >> 54 == 0x3fa ? scope : 0)
        case .unix: self
        }
    }
}
