import CausewayPackets
import CausewaySystem

/// Asks TCP ports by connections of the kernel's, which are reset as soon as they are there.
final class ConnectWire: ScanWire {
    private let targets: ArraySlice<ScanTarget>
    private let ports: [UInt16]
    private let epoll: Epoll
    private var events = Epoll.EventBuffer(capacity: 1024)
    private var open: [PortSurvey.Probe: CInt] = [:]
    private var buffer = [UInt8](repeating: 0, count: 512)
    let mostWaiting: Int

    init(_ targets: ArraySlice<ScanTarget>, _ ports: [UInt16]) throws(SystemError) {
        self.targets = targets
        self.ports = ports
        epoll = try Epoll()
        mostWaiting = max(16, min(Machine.raiseOpenFileLimit() - 64, 20_000))
    }

    deinit { for socket in open.values { Descriptor(adopting: socket).close() } }

    func send(_ probe: PortSurvey.Probe) -> ScanSending {
        let target = targets[targets.startIndex + probe.host].socketAddress
        do throws(SystemError) {
            let socket = try Socket.open(target.family, .stream)
            Socket.abortOnClose(socket.rawValue)
            // An error that comes while connect(2) still runs would else be forgotten: the kernel only notes it beside the socket.
            try PacketSockets.reportErrors(socket.rawValue, isIPv6: target.family == .ipv6)
            if try Socket.connect(socket.rawValue, to: target.with(port: ports[probe.port])) {
                return .answered(.synAck)
            }
            try epoll.add(socket.rawValue, token: Self.token(probe), .writable)
            open[probe] = socket.release()
            return .sent
        } catch {
            return ScanSending(errno: error.errno)
        }
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        let count = epoll.wait(into: &events, timeout: .milliseconds(Int(milliseconds)))
        for place in 0..<count {
            let probe = Self.probe(events[place].token)
            guard let number = open.removeValue(forKey: probe) else { continue }
            let socket = Descriptor(adopting: number)
            let error = error(of: socket)
            socket.close()
            guard error != 0 else {
                answers.append(ScanAnswer(probe: probe, reason: .synAck))
                continue
            }
            if case .answered(let reason) = ScanSending(errno: error) {
                answers.append(ScanAnswer(probe: probe, reason: reason))
            }
        }
    }

    /// The errno that ended a connection, or of what ICMP reported of it; 0 where it is there.
    private func error(of socket: borrowing Descriptor) -> CInt {
        let error = Socket.takeError(socket.rawValue)
        guard error == 0 else { return error }
        let number = socket.rawValue
        let report = try? buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
            try PacketSockets.receive(number, errors: true, into: bytes)
        }
        return (report ?? nil)?.error ?? 0
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
