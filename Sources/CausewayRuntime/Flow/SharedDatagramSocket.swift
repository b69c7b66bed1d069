package import CausewaySystem
internal import CausewayTypes

/// A bound datagram socket and the flows of its peers: whoever sends first to the port becomes a peer.
///
/// The socket is read on its loop's thread only. It stays open while its listener listens or a peer's flow lives.
package final class SharedDatagramSocket: ReadinessHandler {
    /// Called on the loop's thread with a peer's new flow, before its first datagram is put in. Return `false` to refuse.
    package typealias NewPeer = @Sendable (SharedDatagramSocket, Flow, SocketAddress) -> Bool

    fileprivate struct State: ~Copyable {
        var flows: [SocketAddress: Flow] = [:]
        var sources: [SocketAddress: SocketAddress] = [:]
        var blocked: [Flow] = []
        var newPeer: NewPeer?
        var registration: Registration?
        var isOpen = true
        /// Closed while the loop's thread reads, the descriptor's number could be somebody else's before it is done.
        var isReading = false
    }

    /// Blocks filled in one turn of the loop: few, so that they are used and given back while they are still in the cache.
    private static let blockCount = 4

    package let loop: any EventLoop
    let descriptor: CInt
    private let tracksSource: Bool
    private let state: Guarded<State>
    private let reader: LoopBound<PacketReader>

    /// - Parameter tracksSource: answer each peer from the address it wrote to. A socket bound to one address need not.
    package init(
        _ descriptor: consuming Descriptor, on loop: any EventLoop, tracksSource: Bool, newPeer: @escaping NewPeer
    ) throws(SystemError) {
        self.loop = loop
        self.descriptor = descriptor.release()
        self.tracksSource = tracksSource
        reader = LoopBound(PacketReader(blockCount: Self.blockCount), to: loop)
        state = Guarded(State(newPeer: newPeer))
        do {
            let registration = try loop.register(self.descriptor, for: .readable, self)
            state.withLock { state in state.registration = registration }
        } catch {
            Descriptor(adopting: self.descriptor).close()
            throw error
        }
    }

    /// Accepts no more peers. Those that are there live on; if there are none, `completion` is called when the port is free.
    package func stop(_ completion: @escaping @Sendable () -> Void = {}) {
        let closing = state.withLock { state -> Registration? in
            state.newPeer = nil
            return state.takeRegistrationIfIdle()
        }
        close(closing, completion)
    }

    package var peerCount: Int { state.withLock { state in state.flows.count } }

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

    private func close(_ registration: Registration?, _ completion: @escaping @Sendable () -> Void = {}) {
        guard let registration else { return completion() }
        loop.close(registration, Descriptor(adopting: descriptor), completion)
    }

    func source(for peer: SocketAddress) -> SocketAddress? {
        tracksSource ? state.withLock { state in state.sources[peer] } : nil
    }

    func awaitWritable(_ flow: Flow) {
        let registration = state.withLock { state in
            state.blocked.append(flow)
            return state.isOpen ? state.registration : nil
        }
        guard let registration else { return }
        loop.update(registration, descriptor, for: [.readable, .writable])
        loop.await(.writable, of: registration)
    }

    // MARK: On the loop's thread

    package func ready(for readiness: Readiness) {
        if readiness.contains(.writable) { resumeBlocked() }
        if !readiness.isDisjoint(with: [.readable, .failed]) { read() }
    }

    private func resumeBlocked() {
        let (blocked, registration) = state.withLock { state in
            defer { state.blocked = [] }
            return (state.blocked, state.isOpen ? state.registration : nil)
        }
        if let registration { loop.update(registration, descriptor, for: .readable) }
        for flow in blocked { flow.ready(for: .writable) }
    }

    private func read() {
        guard let registration = state.withLock({ state in state.beginRead() }) else { return }
        var count = Self.blockCount
        do throws(SystemError) {
            count = try reader.value.receive(descriptor, wantsPeer: true)
            if count > 0 { distribute(count) }
        } catch {
            // An ICMP error about an earlier answer concerns no datagram that is here now: there may be more behind it.
        }
        close(state.withLock { state in state.endRead() })
        if count == Self.blockCount {
            // Whoever waits for these datagrams gets its turn before the next ones are read.
            loop.execute { self.read() }
        } else {
            loop.await(.readable, of: registration)
        }
    }

    /// Gives runs of packets of one peer to its flow in one piece.
    private func distribute(_ count: Int) {
        var run: [DatagramBatch.Train] = []
        var runPeer: SocketAddress?
        var source: SocketAddress?
        for index in 0..<count {
            let packet = reader.value[index]
            guard let peer = packet.peer else { continue }
            if peer != runPeer {
                if let runPeer, !run.isEmpty { hand(run, to: runPeer, source) }
                run.removeAll(keepingCapacity: true)
                runPeer = peer
            }
            run.append(reader.value.takeTrain(index))
            source = packet.info.local
        }
        if let runPeer, !run.isEmpty { hand(run, to: runPeer, source) }
    }

    private func hand(_ trains: [DatagramBatch.Train], to peer: SocketAddress, _ source: SocketAddress?) {
        if let flow = state.withLock({ state in state.flows[peer] }) {
            flow.arrived(trains)
        } else if let flow = admit(peer, source) {
            flow.arrived(trains)
        }
    }

    private func admit(_ peer: SocketAddress, _ source: SocketAddress?) -> Flow? {
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

extension SharedDatagramSocket.State {
    fileprivate mutating func beginRead() -> Registration? {
        guard isOpen else { return nil }
        isReading = true
        return registration
    }

    fileprivate mutating func endRead() -> Registration? {
        isReading = false
        return takeRegistrationIfIdle()
    }

    mutating func takeRegistrationIfIdle() -> Registration? {
        guard newPeer == nil, flows.isEmpty, isOpen, !isReading else { return nil }
        isOpen = false
        return registration.take()
    }
}

extension Flow {
    /// Where the transport begins and ends. A peer of a shared socket has its own; `nil` when there is no transport.
    package var addresses: (local: SocketAddress?, remote: SocketAddress?)? {
        let transport = state.withLock { state in state.transport }
        return withDescriptor { fd in
            let local = Socket.localAddress(fd)
            guard case .peer(let shared, let peer) = transport else { return (local, Socket.peerAddress(fd)) }
            return (shared.source(for: peer)?.bound(to: local?.port ?? 0) ?? local, peer)
        }
    }
}

extension SocketAddress {
    /// The address of a datagram's header as a socket's address: with a port, and with a scope only where it has a meaning.
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
