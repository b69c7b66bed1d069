import CausewaySystem

/// One run of `nw trace`, on a thread of its own.
final class TraceSession {
    private struct Probe {
        var hop: Int
        var left: ContinuousClock.Instant
        var answer: (from: String, milliseconds: Double, note: String)?
    }

    private let command: TraceCommand
    private let target: HostAddress
    private let socket: Descriptor
    private let clock = ContinuousClock()
    /// By their ports, which the reports repeat.
    private var probes: [UInt16: Probe] = [:]
    /// The nearest hop that is the target itself, or the end of the way.
    private var end: Int?
    private var buffer = [UInt8](repeating: 0, count: 2048)

    init(_ command: TraceCommand, _ target: HostAddress) throws {
        self.command = command
        self.target = target
        do {
            socket = try Socket.open(target.isIPv6 ? .ipv6 : .ipv4, .datagram)
        } catch { throw Failure("socket", error) }
        // Reports of routers then wait in the socket's error queue: no raw socket is needed.
        var on: CInt = 1
        _ =
            target.isIPv6
            ? setsockopt(
                socket.rawValue, CInt(IPPROTO_IPV6), CInt(IPV6_RECVERR), &on, socklen_t(MemoryLayout<CInt>.size))
            : setsockopt(socket.rawValue, CInt(IPPROTO_IP), CInt(IP_RECVERR), &on, socklen_t(MemoryLayout<CInt>.size))
    }

    func run(until stop: StopMark) throws {
        if !command.json {
            printLine("trace to \(command.host) (\(target.text)), \(command.most) hops at most")
        }
        for round in 0..<command.probes {
            for hop in 1...command.most where hop <= end ?? command.most {
                send(hop, command.port + UInt16((hop - 1) * command.probes + round))
            }
            // Between rounds, so that a router's allowance for reports fills up again.
            collect(until: clock.now + .milliseconds(60), stop)
        }
        let deadline = clock.now + .seconds(command.wait)
        while !stop.isSet, clock.now < deadline, isWaiting {
            collect(until: min(deadline, clock.now + .milliseconds(50)), stop)
        }
        for hop in 1...(end ?? lastAnswered) { show(hop) }
        if end == nil { printError("nw: trace: no answer from farther away") }
    }

    private var isWaiting: Bool { probes.values.contains { $0.answer == nil && $0.hop <= end ?? command.most } }
    private var lastAnswered: Int { max(1, probes.values.filter { $0.answer != nil }.map(\.hop).max() ?? 1) }

    private func send(_ hop: Int, _ port: UInt16) {
        try? PacketSockets.setHopLimit(socket.rawValue, isIPv6: target.isIPv6, hop)
        let address: SocketAddress
        switch target.socketAddress {
        case .ipv4(let bits, _): address = .ipv4(bits: bits, port: port)
        case .ipv6(let high, let low, _, let scope): address = .ipv6(high: high, low: low, port: port, scope: scope)
        case .unix: return
        }
        let content = [UInt8](repeating: 0x40, count: 32)
        probes[port] = Probe(hop: hop, left: clock.now)
        // A report that is pending fails one call, and is taken out of the way by it.
        for _ in 0..<2 {
            let sent = try? content.withUnsafeBytes { bytes throws(SystemError) in
                try PacketSockets.send(socket.rawValue, bytes, to: address)
            }
            if sent != nil { return }
        }
    }

    private func collect(until deadline: ContinuousClock.Instant, _ stop: StopMark) {
        while !stop.isSet {
            let rest = Int((deadline - clock.now) / .milliseconds(1))
            guard rest > 0 else { return }
            _ = PacketSockets.wait(socket.rawValue, milliseconds: CInt(min(rest, 20)))
            while let arrival = receive() { take(arrival) }
            if !isWaiting { return }
        }
    }

    private func receive() -> PacketArrival? {
        (try? buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
            try PacketSockets.receive(socket.rawValue, into: bytes)
        }) ?? nil
    }

    private func take(_ arrival: PacketArrival) {
        guard let port = arrival.peer?.port, var probe = probes[port], probe.answer == nil else { return }
        let milliseconds = (clock.now - probe.left) / .microseconds(1) / 1000
        let from = (arrival.error == 0 ? arrival.peer : arrival.offender).map(Self.text) ?? "?"
        var note = ""
        if arrival.error == 0 || !isExpired(arrival) {
            // The host itself, or somebody who lets nothing farther.
            end = min(end ?? probe.hop, probe.hop)
            note = arrival.error == 0 ? "" : self.note(arrival)
        }
        probe.answer = (from, milliseconds, note)
        probes[port] = probe
    }

    private func isExpired(_ arrival: PacketArrival) -> Bool { arrival.icmpType == (target.isIPv6 ? 3 : 11) }

    /// The marks that traceroute made known.
    private func note(_ arrival: PacketArrival) -> String {
        switch (target.isIPv6, arrival.icmpType, arrival.icmpCode) {
        case (false, 3, 3), (true, 1, 4): ""
        case (false, 3, 0), (true, 1, 0): " !N"
        case (false, 3, 1), (true, 1, 3): " !H"
        case (false, 3, 2): " !P"
        case (false, 3, 4), (true, 2, _): " !F-\(arrival.information)"
        case (false, 3, 9), (false, 3, 10), (false, 3, 13), (true, 1, 1): " !X"
        default: " !<\(arrival.icmpType)-\(arrival.icmpCode)>"
        }
    }

    private static func text(_ address: SocketAddress) -> String { AddressText.text(address) }

    private func show(_ hop: Int) {
        let answers = (0..<command.probes).map { round in
            probes[command.port + UInt16((hop - 1) * command.probes + round)]?.answer
        }
        let known = answers.compactMap { $0 }
        // Who reported some reports all that it may: the silence of the others is a limit, not a loss.
        let isLimited = !known.isEmpty && known.count < answers.count
        if command.json {
            let list = known.map {
                "{\"from\":\"\($0.from)\",\"milliseconds\":\(PingSession.decimals($0.milliseconds))}"
            }
            return printLine("{\"hop\":\(hop),\"limited\":\(isLimited),\"answers\":[\(list.joined(separator: ","))]}")
        }
        var line = hop < 10 ? " \(hop) " : "\(hop) "
        var last = ""
        for answer in answers {
            guard let answer else {
                line += " *"
                continue
            }
            if answer.from != last { line += " \(answer.from)" }
            last = answer.from
            line += "  \(PingSession.decimals(answer.milliseconds)) ms\(answer.note)"
        }
        printLine(line + (isLimited ? "  (limited)" : ""))
    }
}
