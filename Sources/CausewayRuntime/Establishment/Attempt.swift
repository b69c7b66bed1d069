internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// One connection attempt with its socket. Confined to its connector's loop.
final class Attempt: ReadinessHandler {
    private let candidate: Int
    private let address: SocketAddress
    private let state: LoopBound<State>
    private let loop: any EventLoop

    private struct State {
        weak var connector: Connector?
        var fd: CInt?
        var registration: Registration?
        var timer: TimerID?
        var started: Duration = .zero
        var sentEarly = 0
    }

    init(_ candidate: Int, _ address: SocketAddress, _ connector: Connector) {
        self.candidate = candidate
        self.address = address
        loop = connector.loop
        state = LoopBound(State(connector: connector), to: connector.loop)
    }

    /// Opens the socket and starts connecting it.
    ///
    /// - Returns: Whether the socket is already connected: `true` for datagram and local sockets, and for TCP sockets
    ///   whose first write sends the SYN.
    /// - Throws: The first system error. The socket is then closed.
    func start(_ settings: SocketSettings, early: Data) throws(SystemError) -> Bool {
        state.value.started = System.now
        let interface = try settings.chooseInterface(toward: address)
        let descriptor = try settings.openSocket(address.family)
        if let interface { try Socket.bindToInterface(named: interface.name, descriptor.rawValue) }
        // A connection and a listener on a Unix socket can share their settings. In that case, the local address is the
        // path of the listener. This socket connects to that path, so do not bind it to the path.
        if address.family != .unix || settings.localAddress != address {
            try settings.bindLocal(descriptor.rawValue, address.family)
        }
        let isConnected = try connect(descriptor.rawValue, settings, early)
        if !isConnected {
            state.value.registration = try loop.register(
                descriptor.rawValue, for: [.readable, .writable, .peerClosed], self)
        }
        state.value.fd = descriptor.release()
        if !isConnected, settings.tcp.connectionTimeoutSeconds > 0 {
            state.value.timer = loop.schedule(after: .seconds(settings.tcp.connectionTimeoutSeconds)) { [weak self] in
                self?.fail(Errno.timedOut)
            }
        }
        return isConnected
    }

    /// When the attempt started.
    var started: Duration { state.value.started }

    /// The socket's local address; `nil` once the socket is closed.
    var source: SocketAddress? { state.value.fd.flatMap { Socket.localAddress($0) } }

    private func connect(_ fd: CInt, _ settings: SocketSettings, _ early: Data) throws(SystemError) -> Bool {
        guard settings.usesFastOpen, address.family != .unix else { return try Socket.connect(fd, to: address) }
        if settings.defersConnect {
            try? Socket.set(.fastOpenConnect, to: 1, on: fd)
        } else if !early.isEmpty {
            let outcome = early.withUnsafeBytes { bytes in
                Result { () throws(SystemError) in try Socket.connect(fd, to: address, sending: bytes) }
            }
            if let sent = try outcome.get() {
                state.value.sentEarly = sent
                return false
            }
        }
        return try Socket.connect(fd, to: address)
    }

    func ready(for readiness: Readiness) {
        guard let fd = state.value.fd, readiness.touches([.writable, .failed, .hangUp]) else { return }
        let code = Socket.takeError(fd)
        if code == 0 { state.value.connector?.connected(candidate) } else { fail(code) }
    }

    private func fail(_ code: CInt) {
        guard state.value.fd != nil else { return }
        state.value.connector?.failed(candidate, code)
    }

    /// Ends the attempt and returns its connected socket, which the caller then owns. Returns `nil` if the socket is
    /// already closed.
    func win(_ facts: EstablishmentFacts, _ untried: [SocketAddress]) -> Connector.Winner? {
        stopTimer()
        guard let fd = state.value.fd.take() else { return nil }
        return Connector.Winner(
            fd: fd, registration: state.value.registration.take(), address: address, facts: facts, untried: untried,
            sentEarly: state.value.sentEarly)
    }

    func abandon() {
        stopTimer()
        guard let fd = state.value.fd.take() else { return }
        if let registration = state.value.registration.take() {
            loop.close(registration, Descriptor(adopting: fd))
        } else {
            Descriptor(adopting: fd).close()
        }
    }

    private func stopTimer() {
        if let timer = state.value.timer.take() { loop.cancel(timer) }
    }
}
