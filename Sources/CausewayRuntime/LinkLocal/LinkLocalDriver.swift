internal import CausewayBonjourProtocols
package import CausewaySystem
package import CausewayTypes
package import CausewayWire

/// Maintains a link-local IPv4 address on one interface (RFC 3927). The address exists only while the interface has no
/// routable IPv4 address.
///
/// All work runs on the driver's loop, which also calls the handler. Every method may be called from any thread.
/// Requires `CAP_NET_RAW` and `CAP_NET_ADMIN`.
package final class LinkLocalDriver: ReadinessHandler {
    package enum Event: Sendable, Equatable {
        case waiting(Idleness)
        case probing(IPv4Address)
        /// This host was checking whether the address is free, but another host already uses the address.
        case conflicted(IPv4Address, with: LinkAddress)
        case assigned(IPv4Address)
        /// The address was removed from the interface because another host uses it.
        case lost(IPv4Address, to: LinkAddress)
        /// The address was removed from the interface because the link is down or the driver was stopped.
        case released(IPv4Address)
        /// Reports whether new connections should use the link-local address.
        case preferred(IPv4Address, Bool)
        /// The driver has stopped because of an error. No event follows.
        case failed(SystemError)
    }

    /// The reason why the driver does not try to claim an address at the moment.
    package enum Idleness: Sendable, Equatable {
        case link
        /// The interface has a routable address, so it needs no link-local address.
        case nothing
    }

    /// Reads the network state, and reports its changes.
    struct Network: Sendable {
        /// The event loop that reads the network state. It performs only one read at a time. A read can block, and a
        /// later read must not overtake an earlier one.
        var loop: any EventLoop
        var changes: NetworkChangeMonitor
        /// Reads the network state; `nil` if the kernel does not answer.
        var read: @Sendable () -> NetworkSnapshot?

        static var live: Network {
            Network(loop: Engine.networkLoop, changes: .shared) { try? NetworkSnapshot.current() }
        }
    }

    private enum Phase {
        case idle
        case running(Registration, NetworkChangeMonitor.Subscription)
        case ended
    }

    private struct State: ~Copyable {
        var claim: LinkLocalClaim
        /// The ARP socket; `nil` after the driver has ended. If the driver was never started, the socket is closed when
        /// the driver is released.
        var socket: Descriptor?
        var phase = Phase.idle
        var timer: TimerID?
        var told: Event?
        /// Whether the event loop will call this driver again, so that it continues to read.
        var isReading = false
        /// The timer that reads the network again, if the kernel did not answer.
        var retry: TimerID?

        var hasEnded: Bool { if case .ended = phase { true } else { false } }
        var registration: Registration? { if case .running(let registration, _) = phase { registration } else { nil } }
    }

    /// The maximum number of frames to read before the loop's other work runs.
    static let budget = 64

    private let interface: NWInterface
    private let loop: any EventLoop
    private let handler: @Sendable (Event) -> Void
    private let network: Network
    private let state: LoopBound<State>

    /// - Parameters:
    ///   - interface: The interface that gets the address.
    ///   - link: The interface's hardware address.
    ///   - remembered: An earlier address of this interface, which is tried first; `nil` if there is none.
    ///   - loop: The loop to run on; `nil` selects one of the process's loops.
    ///   - handler: Called on the loop with each event.
    /// - Throws: ``SystemError``, with `EPERM` if the process may not open raw sockets.
    package convenience init(
        _ interface: NWInterface, _ link: LinkAddress, remembered: IPv4Address?, on loop: (any EventLoop)? = nil,
        _ handler: @escaping @Sendable (Event) -> Void
    ) throws(SystemError) {
        let socket = try PacketSockets.arp(interface: UInt32(interface.index))
        let claim = LinkLocalClaim(link, remembered: remembered)
        self.init(interface, claim, socket, on: loop ?? Engine.nextLoop(), .live, handler)
    }

    /// - Parameter socket: The socket that sends and receives ARP frames on the interface.
    init(
        _ interface: NWInterface, _ claim: LinkLocalClaim, _ socket: consuming Descriptor, on loop: any EventLoop,
        _ network: Network, _ handler: @escaping @Sendable (Event) -> Void
    ) {
        self.interface = interface
        self.handler = handler
        self.loop = loop
        self.network = network
        state = LoopBound(State(claim: claim, socket: socket), to: loop)
    }

    package func start() { loop.execute { self.begin() } }

    private func begin() {
        guard case .idle = state.value.phase, let fd else { return }
        let registration: Registration
        do throws(SystemError) {
            registration = try loop.register(fd, for: .readable, self)
        } catch {
            return fail(error)
        }
        let watch = network.changes.subscribe { [weak self] in self?.look() }
        state.value.phase = .running(registration, watch)
        look()
    }

    /// The descriptor of the ARP socket; `nil` once the driver has ended.
    private var fd: CInt? { state.value.socket?.rawValue }

    /// Removes the address from the interface, then calls `completion`.
    package func stop(_ completion: @escaping @Sendable () -> Void = {}) {
        loop.execute {
            self.perform(self.state.value.claim.end())
            self.close()
            completion()
        }
    }

    private func close() {
        let registration = state.value.registration
        state.value.phase = .ended
        if let timer = state.value.timer.take() { loop.cancel(timer) }
        if let timer = state.value.retry.take() { loop.cancel(timer) }
        guard let socket = state.value.socket.take() else { return }
        if let registration { loop.close(registration, socket) } else { socket.close() }
    }

    private func fail(_ error: SystemError) {
        guard !state.value.hasEnded else { return }
        close()
        handler(.failed(error))
    }

    // MARK: The interface

    /// Reads the state of the interfaces. The read can block, so it runs on the separate loop ``Network/loop``.
    private func look() {
        network.loop.execute { [weak self] in
            guard let self else { return }
            let snapshot = network.read()
            loop.execute { if let snapshot { self.adopt(snapshot) } else { self.lookLater() } }
        }
    }

    /// The delay before the interfaces are read again, if the kernel did not answer. For example, no descriptors are
    /// free. No event reports when the kernel can answer again.
    private static let retryDelay: Duration = .seconds(1)

    private func lookLater() {
        guard !state.value.hasEnded, state.value.retry == nil else { return }
        state.value.retry = loop.schedule(after: Self.retryDelay) { [weak self] in
            self?.state.value.retry = nil
            self?.look()
        }
    }

    private func adopt(_ snapshot: NetworkSnapshot) {
        guard !state.value.hasEnded else { return }
        guard let facts = snapshot.interfaces.first(where: { $0.interface.index == interface.index }) else {
            return fail(SystemError(errno: Errno.noDevice, call: "the interface \(interface.name)"))
        }
        let (isUp, hasRoutable) = (facts.isUp && facts.isRunning, facts.hasRoutableIPv4)
        let hadAddress = state.value.claim.address != nil
        settle { claim in claim.linkChanged(isUp: isUp, hasRoutable: hasRoutable, at: System.now) }
        guard !hadAddress, state.value.claim.candidate == nil, state.value.claim.address == nil else { return }
        tell(.waiting(isUp ? .nothing : .link))
    }

    // MARK: Turns

    package func ready(for readiness: Readiness) {
        // If a further call for reading is already scheduled, return. Otherwise, each report of a new frame would
        // schedule another call.
        guard state.value.registration != nil, !state.value.isReading, let fd else { return }
        var frame = [UInt8](repeating: 0, count: 128)
        for _ in 0..<Self.budget {
            let result = frame.withUnsafeMutableBytes { Socket.receive(fd, into: $0) }
            // When the link goes down, a read fails once. Ignore this error here, because the network monitor also
            // reports the change.
            guard case .moved(let count) = result else {
                if let registration = state.value.registration { loop.await(.readable, of: registration) }
                return
            }
            guard let packet = try? ARPMessage(parsingFrame: frame.span.extracting(first: min(count, frame.count)))
            else { continue }
            settle { claim in claim.received(packet, at: System.now) }
            guard state.value.registration != nil else { return }
        }
        state.value.isReading = true
        loop.execute {
            self.state.value.isReading = false
            self.ready(for: .readable)
        }
    }

    /// Passes an event to the state machine, performs the resulting actions, and sets the timer.
    private func settle(_ event: (inout LinkLocalClaim) -> [LinkLocalClaim.Action]) {
        perform(event(&state.value.claim))
        guard !state.value.hasEnded else { return }
        if let candidate = state.value.claim.candidate { tell(.probing(candidate)) }
        if let timer = state.value.timer.take() { loop.cancel(timer) }
        guard let next = state.value.claim.deadline else { return }
        state.value.timer = loop.schedule(after: max(next - System.now, .zero)) { [weak self] in
            self?.state.value.timer = nil
            self?.settle { claim in claim.advance(to: System.now) }
        }
    }

    /// Reports an event, unless it equals the latest reported event.
    private func tell(_ event: Event) {
        guard state.value.told != event else { return }
        state.value.told = event
        handler(event)
    }

    private func perform(_ actions: [LinkLocalClaim.Action]) {
        for action in actions {
            switch action {
            case .send(let packet):
                // If the frame cannot be sent, do nothing: it then counts as lost on the link.
                if let fd { _ = packet.broadcastFrame.withUnsafeBytes { Socket.send(fd, $0) } }
            case .assign(let address):
                if change(.putLinkLocal(address, on: interface.index, isPreferred: true)) { tell(.assigned(address)) }
            case .prefer(let address, let isPreferred):
                let request = NetlinkRequest.putLinkLocal(address, on: interface.index, isPreferred: isPreferred)
                if change(request) { tell(.preferred(address, isPreferred)) }
            case .release(let address, let reason):
                // Ignore an error. The interface may no longer exist, or an administrator may have removed the address.
                try? request(.takeLinkLocal(address, from: interface.index))
                if case .conflict(let other) = reason {
                    tell(.lost(address, to: other))
                } else {
                    tell(.released(address))
                }
            case .conflicted(let address, let other): tell(.conflicted(address, with: other))
            }
        }
    }

    private func change(_ request: NetlinkRequest) -> Bool {
        do throws(SystemError) {
            try self.request(request)
            return true
        } catch {
            fail(error)
            return false
        }
    }

    private func request(_ request: NetlinkRequest) throws(SystemError) {
        var socket = try NetlinkSocket()
        try socket.perform(request)
    }
}

extension NetworkSnapshot.Interface {
    /// Whether the interface has an IPv4 address that is valid beyond the link.
    package var hasRoutableIPv4: Bool {
        addresses.contains { own in
            guard case .ipv4(let address) = own.address else { return false }
            return !address.isLinkLocal && !address.isLoopback && own.flags.isDisjoint(with: [.duplicate, .deprecated])
        }
    }
}
