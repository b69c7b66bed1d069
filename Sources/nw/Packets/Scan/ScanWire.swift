import CausewayPackets
import CausewaySystem

/// An answer to a probe.
struct ScanAnswer {
    var probe: PortSurvey.Probe
    var reason: ScanFinding.Reason
}

/// Sends probes and receives answers. Each probing technique has its own implementation. Confined to one thread.
protocol ScanWire: AnyObject {
    func send(_ probe: PortSurvey.Probe) -> ScanSending
    /// Sends several probes in order. Calls `outcome` for each probe whose result is not ``ScanSending/sent``.
    func send(_ probes: [PortSurvey.Probe], _ outcome: (PortSurvey.Probe, ScanSending) -> Void)
    /// Appends all answers that have arrived. If there are none, waits for an answer, but not longer than the given
    /// time.
    func collect(into answers: inout [ScanAnswer], milliseconds: CInt)
    /// Releases a probe's resources when its answer is no longer needed.
    func forget(_ probe: PortSurvey.Probe)
    /// The maximum number of probes that can wait for answers at the same time.
    var maximumWaiting: Int { get }
}

enum ScanSending {
    case sent
    /// The probe already has an answer, which the sending system call returned. An example is a refused connection.
    case answered(ScanFinding.Reason)
    /// The probe cannot be sent now, because a buffer or table is full.
    case busy
}

extension ScanWire {
    func send(_ probes: [PortSurvey.Probe], _ outcome: (PortSurvey.Probe, ScanSending) -> Void) {
        var isBusy = false
        for probe in probes {
            // If one of this host's buffers or tables is full, a probe cannot be sent. The later probes cannot be sent
            // either, so do not try to send them.
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
    /// Translates the errno of a failed send or connect.
    init(errno: CInt) {
        switch errno {
        case ECONNREFUSED: self = .answered(.connectionRefused)
        case EHOSTUNREACH, EHOSTDOWN: self = .answered(.hostUnreachable)
        case ENETUNREACH, ENETDOWN: self = .answered(.netUnreachable)
        // With EPERM, a packet filter on this host has dropped the probe. An ICMP error never has this number.
        case EPERM: self = .answered(.localRule)
        case EACCES: self = .answered(.adminProhibited)
        case EINVAL, EAFNOSUPPORT: self = .answered(.netUnreachable)
        default: self = .busy
        }
    }
}

extension PacketArrival {
    /// Whether this host made the ICMP error, because its own packet filter rejected the probe to `target`. The kernel
    /// sends such an error from the probe's source address.
    func isOfThisHost(toward target: SocketAddress) -> Bool {
        guard error != 0, let offender, let source = SourceAddress.toward([target])[0]?.address else { return false }
        return offender.internetAddress == source && target.internetAddress != source
    }

    /// Returns the reason for the port's state that follows from this ICMP error. Returns `nil` if the error does not
    /// concern the port.
    func reason(of target: SocketAddress, isIPv6: Bool) -> ScanFinding.Reason? {
        guard let reason = ScanFinding.Reason(icmpType: icmpType, code: icmpCode, isIPv6: isIPv6) else { return nil }
        return isOfThisHost(toward: target) ? .localRule : reason
    }
}

/// The sockets that one scan technique uses, for both address families. Also contains the code that reads them.
struct ScanSockets: ~Copyable {
    private var sockets: [CInt] = []
    private(set) var families: [Bool] = []
    private var buffer = [UInt8](repeating: 0, count: 2048)
    /// Buffers for received packets. 120 bytes suffice for the headers of a reply: an IPv4 header with options, and a
    /// TCP header.
    private var intake = PacketIntake(byteCount: 120)

    /// The socket receive buffer size in bytes. The kernel counts about 800 bytes per packet, so the buffer holds
    /// several thousand packets.
    private static let room = 8 << 20

    mutating func add(_ socket: consuming Descriptor, isIPv6: Bool) {
        PacketSockets.setReceiveRoom(socket.rawValue, byteCount: Self.room)
        sockets.append(socket.release())
        families.append(isIPv6)
    }

    deinit { for socket in sockets { Descriptor(adopting: socket).close() } }

    /// Sends one packet and returns the result. `place` is the index of the socket to use, in the order in which
    /// sockets were added.
    func send(_ bytes: [UInt8], to address: SocketAddress, over place: Int) -> ScanSending {
        let socket = sockets[place]
        var last: CInt = 0
        // A pending ICMP error makes one call fail. The failed call clears the error, so try again.
        for _ in 0..<3 {
            do {
                _ = try bytes.withUnsafeBytes { bytes throws(SystemError) in
                    try PacketSockets.send(socket, bytes, to: address)
                }
                return .sent
            } catch {
                last = (error as? SystemError)?.errno ?? EIO
                if last == EPERM { break }
            }
        }
        return ScanSending(errno: last)
    }

    /// Sends a batch of packets. Calls `outcome` with the index and the result for each packet that was not sent.
    func send(_ batch: PacketBatch, over place: Int, _ outcome: (Int, ScanSending) -> Void) {
        var (done, failures) = (0, 0)
        while done < batch.count {
            do {
                done += try batch.send(sockets[place], from: done)
                failures = 0
            } catch {
                failures += 1
                // A pending ICMP error makes one call fail, and this call clears the error. So try again.
                guard failures == 3 || error.errno == EPERM else { continue }
                let sending = ScanSending(errno: error.errno)
                guard case .answered = sending else {
                    return (done..<batch.count).forEach { outcome($0, sending) }
                }
                outcome(done, sending)
                (done, failures) = (done + 1, 0)
            }
        }
    }

    /// Calls `body` for each packet and each ICMP error.
    ///
    /// `body` receives the bytes, the sender, the error (`nil` for a packet) and the socket's index.
    mutating func collect(milliseconds: CInt, _ body: (Span<UInt8>, SocketAddress?, PacketArrival?, Int) -> Void) {
        for (place, ready) in PacketSockets.wait(sockets, milliseconds: milliseconds).enumerated() {
            // `takeErrors` and `takeDatagrams` read only a limited number of packets each. So a continuous stream of
            // packets cannot keep the scan from sending.
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
            // If a read returns less than a full batch, no more packets are waiting.
            guard count == PacketIntake.maximum else { return }
        }
    }
}
