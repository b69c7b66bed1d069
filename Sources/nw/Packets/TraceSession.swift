import CausewaySystem
import CausewayTypes

/// One run of `nw trace`, on its own thread.
final class TraceSession {
    private struct Probe {
        var hop: Int
        var left: ContinuousClock.Instant
        var answer: (from: String, milliseconds: Double, note: String)?
    }

    private let command: TraceCommand
    private let target: HostAddress
    private let wire: any TraceWire
    private let clock = ContinuousClock()
    /// The probes, by hop limit and round.
    private var probes: [TraceProbe: Probe] = [:]
    private var hasSent = false
    /// The errno of the first probe for which this host had no route.
    private var unsent: CInt?
    /// The hop number at which the route ends; `nil` if it is not known yet. The end is the target, or a router that
    /// does not forward the probes.
    private var end: Int?

    init(_ command: TraceCommand, _ target: HostAddress) throws {
        self.command = command
        self.target = target
        do {
            if command.icmp {
                wire = try TraceByEcho(command, target)
            } else if command.tcp {
                wire = try TraceByConnection(command, target)
            } else {
                wire = try TraceByDatagram(command, target)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch { throw CommandFailure("cannot open the sockets of the trace", error) }
    }

    func run(until stop: StopFlag) throws {
        if !command.json {
            printLine("trace to \(command.host) (\(target.text)), at most \(command.maximum) hops")
        }
        for round in 0..<command.probes {
            for hop in 1...command.maximum where hop <= end ?? command.maximum {
                send(TraceProbe(hop: hop, round: round))
                if let unsent, !hasSent {
                    throw CommandFailure("cannot send to \(target.text): \(String(cString: strerror(unsent)))")
                }
                // Read the answers that have arrived so far. If the target is near, it has already answered. No further
                // probe is then sent beyond the target.
                if round == 0 { wire.collect(milliseconds: 0) { take($0) } }
            }
            // Pause between rounds, because routers limit their rate of ICMP errors.
            collect(until: clock.now + .milliseconds(60), stop)
        }
        let deadline = clock.now + .seconds(command.wait)
        collect(until: deadline, stop)
        for hop in 1...(end ?? lastAnswered) { show(hop) }
        if end == nil { printError("nw: trace: no answer from later hops") }
    }

    private var isWaiting: Bool { probes.values.contains { $0.answer == nil && $0.hop <= end ?? command.maximum } }
    private var lastAnswered: Int { max(1, probes.values.filter { $0.answer != nil }.map(\.hop).max() ?? 1) }

    /// The error numbers by which the kernel reports that it has no route.
    private static let withoutRoute: Set<CInt> = [ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, ENETDOWN, EAFNOSUPPORT]

    private func send(_ probe: TraceProbe) {
        probes[probe] = Probe(hop: probe.hop, left: clock.now)
        guard let failure = wire.send(probe) else {
            hasSent = true
            return
        }
        // If a packet exceeds the MTU of this host's own interface, the trace ends at the first hop.
        guard failure == EMSGSIZE else {
            if Self.withoutRoute.contains(failure) { unsent = unsent ?? failure }
            return
        }
        end = min(end ?? 1, 1)
        probes[probe]?.answer = (target.text, 0, " !F")
    }

    private func collect(until deadline: ContinuousClock.Instant, _ stop: StopFlag) {
        while !stop.isSet, isWaiting {
            let rest = Int((deadline - clock.now) / .milliseconds(1))
            guard rest > 0 else { return }
            wire.collect(milliseconds: CInt(min(rest, 20))) { take($0) }
        }
    }

    private func take(_ answer: TraceAnswer) {
        guard var probe = probes[answer.probe], probe.answer == nil else { return }
        let arrived = clock.now - (answer.age ?? .zero)
        let milliseconds = max(.zero, arrived - probe.left) / .microseconds(1) / 1000
        var note = ""
        if answer.error == nil || !isExpired(answer) {
            // This hop is the last one. The answer came from the target, or from a router that does not forward the
            // probes.
            end = min(end ?? probe.hop, probe.hop)
            note = answer.error.map(self.note) ?? ""
        }
        probe.answer = (answer.from.map(AddressText.text) ?? "?", milliseconds, note)
        probes[answer.probe] = probe
    }

    private func isExpired(_ answer: TraceAnswer) -> Bool { answer.error?.type == (target.isIPv6 ? 3 : 11) }

    /// Returns the text that traceroute prints after an answer with this error, such as ` !H`.
    private func note(_ error: TraceAnswer.Report) -> String {
        switch (target.isIPv6, error.type, error.code) {
        // A target answers a UDP probe with Port Unreachable. If it answers an echo request or a connection attempt,
        // this error comes from a packet filter.
        case (false, 3, 3), (true, 1, 4): command.icmp || command.tcp ? " !p" : ""
        case (false, 3, 0), (true, 1, 0): " !N"
        case (false, 3, 1), (true, 1, 3): " !H"
        case (false, 3, 2): " !P"
        case (false, 3, 4), (true, 2, _): " !F-\(error.information)"
        case (false, 3, 9), (false, 3, 10), (false, 3, 13), (true, 1, 1): " !X"
        default: " !<\(error.type)-\(error.code)>"
        }
    }

    private func show(_ hop: Int) {
        let answers = (0..<command.probes).map { round in
            probes[TraceProbe(hop: hop, round: round)]?.answer
        }
        let known = answers.compactMap { $0 }
        // A router that answers only some of the probes with this hop limit probably limits its answer rate. So the
        // missing answers do not show that packets were lost.
        let isLimited = !known.isEmpty && known.count < answers.count
        if command.json {
            let list = known.map {
                "{\"from\":\"\($0.from)\",\"milliseconds\":\(PingSession.decimals($0.milliseconds))"
                    + ($0.note.isEmpty ? "}" : ",\"note\":\"\($0.note.dropFirst())\"}")
            }
            return printLine(
                PrintableText(
                    document: "{\"hop\":\(hop),\"limited\":\(isLimited),\"answers\":[\(list.joined(separator: ","))]}"))
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
        printLine("\(line)\(isLimited ? "  (limited)" : "")")
    }
}
