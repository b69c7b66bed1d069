import CausewayPackets
import CausewaySystem

/// What came back for a probe.
struct ScanAnswer {
    var probe: PortSurvey.Probe
    var reason: ScanFinding.Reason
}

/// The way from a scan's decisions to the kernel, one for each technique. Confined to one thread.
protocol ScanWire: AnyObject {
    func send(_ probe: PortSurvey.Probe) -> ScanSending
    /// Sends some at once, in their order, and says of those that were not simply sent what became of them.
    func send(_ probes: [PortSurvey.Probe], _ outcome: (PortSurvey.Probe, ScanSending) -> Void)
    /// Takes what has come in; waits for it, at most so long.
    func collect(into answers: inout [ScanAnswer], milliseconds: CInt)
    /// Nobody waits for this probe any more.
    func forget(_ probe: PortSurvey.Probe)
    /// Probes that it can have open at the same time.
    var maximumWaiting: Int { get }
}

enum ScanSending {
    case sent
    /// The kernel knows the answer already.
    case answered(ScanFinding.Reason)
    /// There is no room at the moment.
    case busy
}

extension ScanWire {
    func send(_ probes: [PortSurvey.Probe], _ outcome: (PortSurvey.Probe, ScanSending) -> Void) {
        var isBusy = false
        for probe in probes {
            // Where there is no room for one, there is none for those behind it.
            let sending = isBusy ? .busy : send(probe)
            if case .sent = sending { continue }
            if case .busy = sending { isBusy = true }
            outcome(probe, sending)
        }
    }

    func forget(_ probe: PortSurvey.Probe) {}
    var maximumWaiting: Int { 65_536 }
}

extension ScanSending {
    /// What the errno of a call that sends says.
    init(errno: CInt) {
        switch errno {
        case ECONNREFUSED: self = .answered(.connectionRefused)
        case EHOSTUNREACH, EHOSTDOWN: self = .answered(.hostUnreachable)
        case ENETUNREACH, ENETDOWN: self = .answered(.netUnreachable)
        // A filter of this host's own.
        case EPERM, EACCES: self = .answered(.adminProhibited)
        case EINVAL, EAFNOSUPPORT: self = .answered(.netUnreachable)
        default: self = .busy
        }
    }
}

/// The sockets of one technique, of both families, and what is common to reading them.
struct ScanSockets: ~Copyable {
    private var sockets: [CInt] = []
    private(set) var families: [Bool] = []
    private var buffer = [UInt8](repeating: 0, count: 2048)
    /// Of answers only the headers matter: those of IPv4 with options and of TCP.
    private var intake = PacketIntake(byteCount: 120)

    /// Bytes of room for answers: some thousands of packets, each of which the kernel counts as about 800.
    private static let room = 8 << 20

    mutating func add(_ socket: consuming Descriptor, isIPv6: Bool) {
        PacketSockets.setReceiveRoom(socket.rawValue, byteCount: Self.room)
        sockets.append(socket.release())
        families.append(isIPv6)
    }

    deinit { for socket in sockets { Descriptor(adopting: socket).close() } }

    /// Sends, and says what became of it. `place` is the socket's, in order of adding.
    func send(_ bytes: [UInt8], to address: SocketAddress, over place: Int) -> ScanSending {
        let socket = sockets[place]
        var last: CInt = 0
        // A report that waits fails one call, and is taken out of the way by it.
        for _ in 0..<3 {
            do {
                _ = try bytes.withUnsafeBytes { bytes throws(SystemError) in
                    try PacketSockets.send(socket, bytes, to: address)
                }
                return .sent
            } catch { last = (error as? SystemError)?.errno ?? EIO }
        }
        return ScanSending(errno: last)
    }

    /// Sends many, and says of those that were not sent what became of them, by their places in the batch.
    func send(_ batch: PacketBatch, over place: Int, _ outcome: (Int, ScanSending) -> Void) {
        var (done, failures) = (0, 0)
        while done < batch.count {
            do {
                done += try batch.send(sockets[place], from: done)
                failures = 0
            } catch {
                failures += 1
                // A report that waits fails one call, and is taken out of the way by it.
                guard failures == 3 else { continue }
                let sending = ScanSending(errno: error.errno)
                guard case .answered = sending else {
                    return (done..<batch.count).forEach { outcome($0, sending) }
                }
                outcome(done, sending)
                (done, failures) = (done + 1, 0)
            }
        }
    }

    /// Hands over what came in: the bytes, from whom, the report where the network reported an error, and the place of the socket.
    mutating func collect(milliseconds: CInt, _ body: (Span<UInt8>, SocketAddress?, PacketArrival?, Int) -> Void) {
        for (place, ready) in PacketSockets.wait(sockets, milliseconds: milliseconds).enumerated() {
            // In both orders bounded, so that an endless stream does not keep the scan from sending.
            if ready.errors { takeErrors(place, body) }
            if ready.datagrams { takeDatagrams(place, body) }
        }
    }

    private mutating func takeErrors(_ place: Int, _ body: (Span<UInt8>, SocketAddress?, PacketArrival?, Int) -> Void) {
        for _ in 0..<4096 {
            let socket = sockets[place]
            let arrival = try? buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
                try PacketSockets.receive(socket, errors: true, into: bytes)
            }
            guard let arrival = arrival ?? nil else { return }
            body(buffer.span.extracting(first: arrival.byteCount), arrival.peer, arrival, place)
        }
    }

    private mutating func takeDatagrams(
        _ place: Int, _ body: (Span<UInt8>, SocketAddress?, PacketArrival?, Int) -> Void
    ) {
        for _ in 0..<64 {
            let count = try? intake.take(sockets[place]) { bytes, peer in body(bytes, peer, nil, place) }
            // Fewer than there is room for: then that was all.
            guard count == PacketIntake.maximum else { return }
        }
    }
}
