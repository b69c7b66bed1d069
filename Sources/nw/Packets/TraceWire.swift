import CausewayPackets
import CausewaySystem

/// Identifies one packet of a trace by its hop limit and its round. The first round is 0.
struct TraceProbe: Hashable {
    var hop: Int
    var round: Int
}

/// An answer to a probe.
struct TraceAnswer {
    /// An ICMP error.
    struct Report {
        var type: UInt8
        var code: UInt8
        /// The next hop's MTU, if the error is about the packet size.
        var information: UInt32
    }

    var probe: TraceProbe
    var from: SocketAddress?
    /// The ICMP error; `nil` if the target itself answered.
    var error: Report?
    /// Time between the arrival of the answer and its receipt by this process, if known.
    var age: Duration?

    init(_ probe: TraceProbe, _ arrival: PacketArrival) {
        self.probe = probe
        let isError = arrival.error != 0
        age = arrival.age
        from = isError ? arrival.offender : arrival.peer
        if isError {
            error = Report(type: arrival.icmpType, code: arrival.icmpCode, information: arrival.information)
        }
    }

    init(_ probe: TraceProbe, from: SocketAddress) {
        self.probe = probe
        self.from = from
    }
}

/// Sends a trace's packets and receives the answers. Confined to one thread.
protocol TraceWire: AnyObject {
    /// Sends a probe's packet. Returns the error number if sending failed; otherwise `nil`.
    func send(_ probe: TraceProbe) -> CInt?
    /// Waits for answers, for at most the given time. Calls `body` with each answer.
    func collect(milliseconds: CInt, _ body: (TraceAnswer) -> Void)
}

/// Sends probes as UDP datagrams to ports that are not in use. The port number identifies the probe. Needs no
/// privilege.
final class TraceByDatagram: TraceWire {
    private let command: TraceCommand
    private let target: HostAddress
    private let socket: Descriptor
    private let content: [UInt8]
    /// The answer buffer. Only the beginning of an answer is parsed.
    private var buffer = [UInt8](repeating: 0, count: 2048)

    init(_ command: TraceCommand, _ target: HostAddress) throws(SystemError) {
        self.command = command
        self.target = target
        socket = try Socket.open(target.isIPv6 ? .ipv6 : .ipv4, .datagram)
        // Let routers' ICMP errors arrive in the socket's error queue, so that no raw socket is needed.
        try PacketSockets.reportErrors(socket.rawValue, isIPv6: target.isIPv6)
        PacketSockets.stampArrivals(socket.rawValue)
        content = try TraceSending.content(command, target, over: socket.rawValue)
    }

    func send(_ probe: TraceProbe) -> CInt? {
        try? PacketSockets.setHopLimit(socket.rawValue, isIPv6: target.isIPv6, probe.hop)
        let port = command.port + UInt16((probe.hop - 1) * command.probes + probe.round)
        return TraceSending.send(content, to: target.socketAddress.with(port: port), over: socket.rawValue)
    }

    func collect(milliseconds: CInt, _ body: (TraceAnswer) -> Void) {
        guard PacketSockets.wait(socket.rawValue, milliseconds: milliseconds) else { return }
        while let arrival = TraceSending.receive(socket.rawValue, &buffer) {
            let place = Int(arrival.peer?.port ?? 0) - Int(command.port)
            guard place >= 0 else { continue }
            body(
                TraceAnswer(
                    TraceProbe(hop: place / command.probes + 1, round: place % command.probes), arrival))
        }
    }
}

/// Sends ICMP echo requests; the sequence number identifies the probe.
final class TraceByEcho: TraceWire {
    private let command: TraceCommand
    private let target: HostAddress
    private let socket: Descriptor
    private let isRaw: Bool
    private let identifier = UInt16.random(in: 1...UInt16.max)
    private let content: [UInt8]
    /// The answer buffer. Only the beginning of an answer is parsed.
    private var buffer = [UInt8](repeating: 0, count: 2048)

    init(_ command: TraceCommand, _ target: HostAddress) throws {
        self.command = command
        self.target = target
        var isRaw = false
        socket = try PingSession.open(target.isIPv6, &isRaw)
        self.isRaw = isRaw
        content = try TraceSending.content(command, target, over: socket.rawValue)
    }

    func send(_ probe: TraceProbe) -> CInt? {
        try? PacketSockets.setHopLimit(socket.rawValue, isIPv6: target.isIPv6, probe.hop)
        var packet = PacketBuilder()
        let number = UInt16((probe.hop - 1) * command.probes + probe.round + 1)
        packet.add(.echo(type: target.isIPv6 ? 128 : 8, identifier: identifier, sequence: number))
        packet.add(payload: content)
        return TraceSending.send(packet.finish(), to: target.socketAddress, over: socket.rawValue)
    }

    func collect(milliseconds: CInt, _ body: (TraceAnswer) -> Void) {
        guard PacketSockets.wait(socket.rawValue, milliseconds: milliseconds) else { return }
        while let arrival = TraceSending.receive(socket.rawValue, &buffer) {
            let head = Array(buffer.prefix(min(arrival.byteCount, 128)))
            // A packet from an IPv4 raw socket begins with the IP header, and the ICMP header follows. A packet from
            // the error queue begins with the ICMP header of the sent probe.
            let offset = isRaw && !target.isIPv6 && arrival.error == 0 ? Int((head.first ?? 0) & 15) * 4 : 0
            guard let header = try? ICMPHeader(ByteView(head.span), at: offset), header.sequence > 0,
                !isRaw || header.identifier == identifier,
                arrival.error != 0 || header.type == (target.isIPv6 ? 129 : 0)
            else { continue }
            let place = Int(header.sequence) - 1
            body(
                TraceAnswer(
                    TraceProbe(hop: place / command.probes + 1, round: place % command.probes), arrival))
        }
    }
}

/// Starts TCP connections, each on its own socket. Needs no privilege.
final class TraceByConnection: TraceWire {
    private let command: TraceCommand
    private let target: HostAddress
    private var open: [(probe: TraceProbe, socket: CInt)] = []
    private var buffer = [UInt8](repeating: 0, count: 2048)

    init(_ command: TraceCommand, _ target: HostAddress) throws(SystemError) {
        self.command = command
        self.target = target
        _ = System.raiseOpenFileLimit()
    }

    deinit { for entry in open { Descriptor(adopting: entry.socket).close() } }

    func send(_ probe: TraceProbe) -> CInt? {
        do throws(SystemError) {
            let socket = try Socket.open(target.socketAddress.family, .stream)
            Socket.abortOnClose(socket.rawValue)
            try PacketSockets.setHopLimit(socket.rawValue, isIPv6: target.isIPv6, probe.hop)
            try PacketSockets.reportErrors(socket.rawValue, isIPv6: target.isIPv6)
            _ = try Socket.connect(socket.rawValue, to: target.socketAddress.with(port: command.port))
            open.append((probe, socket.release()))
            return nil
        } catch { return error.errno }
    }

    func collect(milliseconds: CInt, _ body: (TraceAnswer) -> Void) {
        let ready = PacketSockets.waitForConnections(open.map(\.socket), milliseconds: milliseconds)
        var waiting: [(probe: TraceProbe, socket: CInt)] = []
        for (entry, isReady) in zip(open, ready) {
            guard isReady else {
                waiting.append(entry)
                continue
            }
            let socket = entry.socket
            defer { Descriptor(adopting: socket).close() }
            if let arrival = try? buffer.withUnsafeMutableBytes({ bytes throws(SystemError) in
                try PacketSockets.receive(socket, errors: true, into: bytes)
            }), arrival.error != 0, arrival.icmpType != 0 {
                body(TraceAnswer(entry.probe, arrival))
            } else {
                // The target has accepted or refused the connection. In both cases, the target itself has answered.
                let error = Socket.takeError(socket)
                if error == 0 || error == ECONNREFUSED { body(TraceAnswer(entry.probe, from: target.socketAddress)) }
            }
        }
        open = waiting
    }
}

/// Functions that all trace methods share.
enum TraceSending {
    /// Returns a packet's payload. The command specifies the size of the whole packet, which includes 28 bytes of
    /// headers, or 48 bytes for IPv6.
    ///
    /// If the command's options require it, also sets the Don't Fragment bit on the socket.
    static func content(
        _ command: TraceCommand, _ target: HostAddress, over socket: CInt
    ) throws(SystemError) -> [UInt8] {
        if command.unfragmented {
            try PacketSockets.setFragmentation(socket, isIPv6: target.isIPv6, isAllowed: false)
        }
        let headers = target.isIPv6 ? 48 : 28
        return [UInt8](repeating: 0x40, count: max(0, (command.size ?? headers + 32) - headers))
    }

    /// Sends a packet. Returns the errno if sending failed.
    static func send(_ bytes: [UInt8], to address: SocketAddress, over socket: CInt) -> CInt? {
        var last: CInt = 0
        // Try again after an error. A pending ICMP error makes one send call fail, and the failed call clears the
        // error.
        for _ in 0..<3 {
            do {
                _ = try bytes.withUnsafeBytes { bytes throws(SystemError) in
                    try PacketSockets.send(socket, bytes, to: address)
                }
                return nil
            } catch { last = (error as? SystemError)?.errno ?? EIO }
        }
        return last
    }

    static func receive(_ socket: CInt, _ buffer: inout [UInt8]) -> PacketArrival? {
        (try? buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
            try PacketSockets.receive(socket, into: bytes)
        }) ?? nil
    }
}
