internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// One connection attempt with its socket. Confined to its connector's loop.
final class Attempt: ReadinessHandler {
    private let candidate: Int
    private let address: SocketAddress
    // SAFETY: The variables below are accessed on the connector's loop only.
    nonisolated(unsafe) private weak var connector: Connector?
    nonisolated(unsafe) private var fd: CInt?
    nonisolated(unsafe) private var registration: Registration?
    nonisolated(unsafe) private var timer: TimerID?
    nonisolated(unsafe) private var beginning: (time: Duration, sentEarly: Int) = (.zero, 0)
    private let loop: any EventLoop

    init(_ candidate: Int, _ address: SocketAddress, _ connector: Connector) {
        self.candidate = candidate
        self.address = address
        self.connector = connector
        loop = connector.loop
    }

    /// Starts to connect the socket.
    ///
    /// - Returns: Whether the socket is already connected: `true` for datagram and local sockets, and for TCP sockets that connect with
    ///   their first write.
    func start(_ settings: SocketSettings, early: Data) throws(SystemError) -> Bool {
        beginning.time = System.now
        let interface = try settings.chooseInterface(toward: address)
        let descriptor = try settings.openSocket(address.family)
        if let interface { try Socket.bindToInterface(named: interface.name, descriptor.rawValue) }
        // Parameters that are shared with a listener have the listener's path as their local address. Do not bind the socket to it.
        if address.family != .unix || settings.localAddress != address {
            try settings.bindLocal(descriptor.rawValue, address.family)
        }
        let isConnected = try connect(descriptor.rawValue, settings, early)
        if !isConnected {
            registration = try loop.register(descriptor.rawValue, for: [.readable, .writable, .peerClosed], self)
        }
        fd = descriptor.release()
        if !isConnected, settings.tcp.connectionTimeoutSeconds > 0 {
            timer = loop.schedule(after: .seconds(settings.tcp.connectionTimeoutSeconds)) { [weak self] in
                self?.fail(Errno.timedOut)
            }
        }
        return isConnected
    }

    /// The start time of the attempt.
    var started: Duration { beginning.time }

    /// The local address; `nil` once the socket is closed.
    var source: SocketAddress? { fd.flatMap { Socket.localAddress($0) } }

    private func connect(_ fd: CInt, _ settings: SocketSettings, _ early: Data) throws(SystemError) -> Bool {
        guard settings.usesFastOpen, address.family != .unix else { return try Socket.connect(fd, to: address) }
        if settings.defersConnect {
            try? Socket.set(.fastOpenConnect, to: 1, on: fd)
        } else if !early.isEmpty {
            let outcome = early.withUnsafeBytes { bytes in
                Result { () throws(SystemError) in try Socket.connect(fd, to: address, sending: bytes) }
            }
            if let sent = try outcome.get() {
                beginning.sentEarly = sent
                return false
            }
        }
        return try Socket.connect(fd, to: address)
    }

    func ready(for readiness: Readiness) {
        guard let fd, readiness.touches([.writable, .failed, .hangUp]) else { return }
        let code = Socket.takeError(fd)
        if code == 0 { connector?.connected(candidate) } else { fail(code) }
    }

    private func fail(_ code: CInt) {
        guard fd != nil else { return }
        connector?.failed(candidate, code)
    }

    /// Transfers ownership of the socket to the returned winner; `nil` if the socket is closed.
    func win(_ facts: EstablishmentFacts, _ untried: [SocketAddress]) -> Connector.Winner? {
        stopTimer()
        guard let fd = fd.take() else { return nil }
        return Connector.Winner(
            fd: fd, registration: registration.take(), address: address, facts: facts, untried: untried,
            sentEarly: beginning.sentEarly)
    }

    func abandon() {
        stopTimer()
        guard let fd = fd.take() else { return }
        if let registration = registration.take() {
            loop.close(registration, Descriptor(adopting: fd))
        } else {
            Descriptor(adopting: fd).close()
        }
    }

    private func stopTimer() {
        if let timer = timer.take() { loop.cancel(timer) }
    }
}
