internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes

/// Measures the time to establish connections, one after the other on one event loop. Compares it with the time for a
/// bare socket on the same loop.
public final class ConnectMeasure: Sendable {
    /// The way in which connections are established.
    public enum Way: String, CaseIterable, Sendable {
        /// Only opens, connects and registers a socket.
        case plain
        /// Connects in the same way as a connection to an address.
        case literal
        /// Connects to a name with cached addresses, as a connection does.
        case name
    }

    private let way: Way
    private let address: SocketAddress
    private let name: String
    private let port: UInt16
    private let loop: any EventLoop
    private let rest: LockedValue<(count: Int, failures: Int, current: Connector?)>
    private let done = LockedValue<CheckedContinuation<Int, Never>?>(nil)

    private init(_ way: Way, _ name: String, _ port: UInt16, _ count: Int) {
        self.way = way
        self.name = name
        self.port = port
        address = .ipv6(high: 0, low: 1, port: port, scope: 0)
        loop = Engine.loops[0]
        rest = LockedValue((count, 0, nil))
    }

    /// Connects to `port` of this host's IPv6 loopback address, to which `name` must resolve.
    ///
    /// - Returns: The number of failed connections.
    ///
    /// Cancellation: has no effect; all connections are made.
    public static func connect(_ way: Way, to name: String, port: UInt16, times: Int) async -> Int {
        let measure = ConnectMeasure(way, name, port, times)
        return await withCheckedContinuation { continuation in
            measure.done.withLock { $0 = continuation }
            measure.loop.execute { measure.next(failed: false) }
        }
    }

    private func next(failed: Bool) {
        let isOver = rest.withLock { rest in
            rest.failures += failed ? 1 : 0
            rest.count -= 1
            return rest.count < 0
        }
        if isOver { return end() }
        switch way {
        case .plain: connectPlainly()
        case .literal: race(.addresses([address]))
        case .name: race(.name(name, port: port, interface: nil))
        }
    }

    private func end() {
        let failures = rest.withLock { rest in
            rest.current = nil
            return rest.failures
        }
        done.withLock { $0.take() }?.resume(returning: failures)
    }

    private func race(_ target: Connector.Target) {
        let connector = Connector(target, SocketSettings(transport: .tcp), on: loop, resolver: SystemNameResolver()) {
            [self] outcome, _ in
            guard case .success(let winner) = outcome, let registration = winner.registration else {
                return loop.execute { self.next(failed: true) }
            }
            loop.close(registration, Descriptor(adopting: winner.fd))
            // This closure is the completion handler of the previous connection. So do not start the next connection
            // here, but in a later job on the loop.
            loop.execute { self.next(failed: false) }
        }
        rest.withLock { $0.current = connector }
        connector.start()
    }

    private func connectPlainly() {
        do throws(SystemError) {
            let socket = try SocketSettings(transport: .tcp).openSocket(.ipv6)
            _ = try Socket.connect(socket.rawValue, to: address)
            let plain = PlainSocket(self, socket.rawValue)
            let registration = try loop.register(
                socket.rawValue, for: [.readable, .writable, .peerClosed], plain)
            plain.registration.withLock { $0 = registration }
            _ = socket.release()
        } catch {
            loop.execute { self.next(failed: true) }
        }
    }

    fileprivate func plainlyConnected(_ fd: CInt, _ registration: Registration) {
        let code = Socket.takeError(fd)
        loop.close(registration, Descriptor(adopting: fd))
        loop.execute { self.next(failed: code != 0) }
    }
}

/// A socket that the benchmark uses directly, without the library's connection type.
private final class PlainSocket: ReadinessHandler {
    let registration = LockedValue<Registration?>(nil)
    private let measure: ConnectMeasure
    private let fd: CInt

    init(_ measure: ConnectMeasure, _ fd: CInt) {
        self.measure = measure
        self.fd = fd
    }

    func ready(for readiness: Readiness) {
        guard !readiness.isDisjoint(with: [.writable, .failed, .hangUp]),
            let registration = registration.withLock({ $0.take() })
        else { return }
        measure.plainlyConnected(fd, registration)
    }
}
