import CausewayPackets
import CausewaySystem

/// Probes TCP ports with kernel connections. Each connection is reset as soon as it is established.
final class ConnectWire: ScanWire {
    private let targets: ArraySlice<ScanTarget>
    private let ports: [UInt16]
    private let epoll: Epoll
    private var events = Epoll.EventBuffer(capacity: 1024)
    private var open: [PortSurvey.Probe: CInt] = [:]
    /// Sockets whose connection was refused, so that they can be used again.
    ///
    /// For the kernel, using a socket again takes half the time of creating one.
    private var idle: [SocketAddress.Family: [CInt]] = [:]
    private let maximumIdle: Int
    /// Started connections that have not been checked yet.
    private var begun: [(probe: PortSurvey.Probe, socket: CInt)] = []
    private var buffer = [UInt8](repeating: 0, count: 512)
    let maximumWaiting: Int

    init(_ targets: ArraySlice<ScanTarget>, _ ports: [UInt16]) throws(SystemError) {
        self.targets = targets
        self.ports = ports
        epoll = try Epoll()
        let limit = System.raiseOpenFileLimit()
        maximumIdle = max(1, min(64, limit / 16))
        maximumWaiting = max(16, min(limit - 64 - 2 * maximumIdle, 20_000))
    }

    deinit {
        for socket in open.values { Descriptor(adopting: socket).close() }
        for socket in idle.values.joined() { Descriptor(adopting: socket).close() }
    }

    func send(_ probe: PortSurvey.Probe) -> ScanSending {
        var result = ScanSending.sent
        send([probe]) { result = $1 }
        return result
    }

    func send(_ probes: [PortSurvey.Probe], _ outcome: (PortSurvey.Probe, ScanSending) -> Void) {
        var isBusy = false
        for probe in probes {
            // If one of this host's buffers or tables is full, a probe cannot be sent. The later probes cannot be sent
            // either, so do not try to send them.
            let sending = isBusy ? .busy : begin(probe)
            if case .sent = sending { continue }
            if case .busy = sending { isBusy = true }
            outcome(probe, sending)
        }
        lookAtBegun(outcome)
    }

    private func begin(_ probe: PortSurvey.Probe) -> ScanSending {
        let target = target(of: probe)
        do throws(SystemError) {
            let socket = try socket(target.family)
            if try Socket.connect(socket.rawValue, to: target) { return .answered(.synAck) }
            begun.append((probe, socket.release()))
            return .sent
        } catch {
            // The call failed before any reply can have arrived. So EACCES comes from this host: one of its routes
            // prohibits the destination.
            return error.errno == EACCES ? .answered(.localRule) : ScanSending(errno: error.errno)
        }
    }

    private func target(of probe: PortSurvey.Probe) -> SocketAddress {
        targets[targets.startIndex + probe.host].socketAddress.with(port: ports[probe.port])
    }

    private func socket(_ family: SocketAddress.Family) throws(SystemError) -> Descriptor {
        if let number = idle[family]?.popLast() { return Descriptor(adopting: number) }
        let socket = try Socket.open(family, .stream)
        Socket.abortOnClose(socket.rawValue)
        // Enable the socket's error queue. Otherwise the kernel discards an ICMP error that arrives during connect(2).
        try PacketSockets.reportErrors(socket.rawValue, isIPv6: family == .ipv6)
        return socket
    }

    /// Checks each started connection once, because many hosts have answered by now. Connections without an answer are added to epoll.
    private func lookAtBegun(_ outcome: (PortSurvey.Probe, ScanSending) -> Void) {
        for (probe, number) in begun {
            let target = target(of: probe)
            let socket = Descriptor(adopting: number)
            do throws(SystemError) {
                // A second connect(2) call reports the result of the first call. If the peer refused the connection,
                // this second call also makes the socket usable again.
                _ = try Socket.connect(number, to: target)
                outcome(probe, .answered(.synAck))
            } catch {
                guard error.errno == EALREADY else {
                    // Report only an error that is an answer to the probe. After any other error, an immediate retry
                    // would not help, so let the probe time out.
                    let isLocal = report(of: socket)?.isOfThisHost(toward: target) == true
                    let sending = isLocal ? ScanSending.answered(.localRule) : ScanSending(errno: error.errno)
                    if case .answered = sending { outcome(probe, sending) }
                    if error.errno == ECONNREFUSED { keep(socket, target.family) }
                    continue
                }
                do throws(SystemError) {
                    try epoll.add(number, token: Self.token(probe), .writable)
                    open[probe] = socket.release()
                } catch { outcome(probe, .busy) }
            }
        }
        begun.removeAll(keepingCapacity: true)
    }

    /// Keeps a socket for another probe. A socket whose error queue contains an error is closed instead: the next probe
    /// would mistake this error for its own answer.
    private func keep(_ socket: consuming Descriptor, _ family: SocketAddress.Family) {
        guard idle[family, default: []].count < maximumIdle, report(of: socket) == nil else { return }
        idle[family, default: []].append(socket.release())
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        let count = epoll.wait(into: &events, timeout: .milliseconds(Int(milliseconds)))
        for place in 0..<count {
            let probe = Self.probe(events[place].token)
            guard let number = open.removeValue(forKey: probe) else { continue }
            let socket = Descriptor(adopting: number)
            let (error, report) = outcome(of: socket)
            socket.close()
            guard error != 0 else {
                answers.append(ScanAnswer(probe: probe, reason: .synAck))
                continue
            }
            if report?.isOfThisHost(toward: target(of: probe)) == true {
                answers.append(ScanAnswer(probe: probe, reason: .localRule))
            } else if case .answered(let reason) = ScanSending(errno: error) {
                answers.append(ScanAnswer(probe: probe, reason: reason))
            }
        }
    }

    /// Returns the errno that ended a connection, or 0 if the connection is established, and also the ICMP error that
    /// arrived, if any.
    private func outcome(of socket: borrowing Descriptor) -> (errno: CInt, report: PacketArrival?) {
        let error = Socket.takeError(socket.rawValue)
        let report = report(of: socket)
        return (error == 0 ? report?.error ?? 0 : error, report)
    }

    private func report(of socket: borrowing Descriptor) -> PacketArrival? {
        let number = socket.rawValue
        let report = try? buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
            try PacketSockets.receive(number, errors: true, into: bytes)
        }
        return report ?? nil
    }

    func forget(_ probe: PortSurvey.Probe) {
        if let socket = open.removeValue(forKey: probe) { Descriptor(adopting: socket).close() }
    }

    private static func token(_ probe: PortSurvey.Probe) -> UInt64 {
        UInt64(probe.host) << 32 | UInt64(probe.port) << 8 | UInt64(probe.attempt & 255)
    }

    private static func probe(_ token: UInt64) -> PortSurvey.Probe {
        PortSurvey.Probe(host: Int(token >> 32), port: Int(token >> 8 & 0xFF_FFFF), attempt: Int(token & 255))
    }
}
