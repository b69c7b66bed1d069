import CausewayPackets
import CausewaySystem
import CausewayWire

/// Asks TCP ports by segments of our own making. The kernel answers what comes back with a reset, because no socket of its own asked.
final class SynWire: ScanWire {
    private let targets: ArraySlice<ScanTarget>
    private let ports: [UInt16]
    private let index: ScanIndex
    private let sources: [InternetAddress?]
    private let probes: ScanProbes
    private var sockets = ScanSockets()
    private let family: [Bool: Int]

    /// - Throws: ``SystemError``, `EPERM` where the process may not have raw sockets.
    init(_ targets: ArraySlice<ScanTarget>, _ ports: [UInt16]) throws(SystemError) {
        self.targets = targets
        self.ports = ports
        index = ScanIndex(targets, ports)
        probes = ScanProbes(secret: .random(in: 0...UInt64.max), firstPort: Self.freePort())
        var family: [Bool: Int] = [:]
        for isIPv6 in [false, true] where targets.contains(where: { $0.isIPv6 == isIPv6 }) {
            family[isIPv6] = family.count
            let count = UInt16(ScanProbes.mostAttempts)
            sockets.add(
                try PacketSockets.rawTCP(isIPv6: isIPv6, firstPort: probes.firstPort, portCount: count), isIPv6: isIPv6)
        }
        self.family = family
        sources = SourceAddress.toward(targets.map(\.socketAddress)).map { $0?.address }
    }

    /// Where no socket of the kernel's can be: it would answer for us, or take our answers for its own.
    private static func freePort() -> UInt16 {
        let taken = Machine.temporaryPorts
        let count = UInt16(ScanProbes.mostAttempts)
        let above = UInt32(taken.upperBound) + 1
        if above + UInt32(count) < 65_535 { return .random(in: UInt16(above)...(65_535 - count)) }
        return .random(in: 1024...max(1024, taken.lowerBound - min(taken.lowerBound - 1024, count)))
    }

    func send(_ probe: PortSurvey.Probe) -> ScanSending {
        let target = targets[targets.startIndex + probe.host]
        guard let source = sources[probe.host], let place = family[target.isIPv6] else {
            return .answered(.netUnreachable)
        }
        let segment = probes.synSegment(
            from: source, to: target.address, host: probe.host, port: ports[probe.port], attempt: probe.attempt)
        return sockets.send(segment, to: target.socketAddress, over: place)
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        let (index, probes) = (index, probes)
        let isIPv6 = sockets.families
        sockets.collect(milliseconds: milliseconds) { octets, arrival, place in
            guard let host = index.host(arrival.peer) else { return }
            let view = Octets(octets.span).prefix(arrival.byteCount)
            if arrival.error != 0 {
                guard let (number, attempt) = probes.repeated(view, at: 0), let port = index.port(number),
                    let reason = ScanFinding.Reason(
                        icmpType: arrival.icmpType, code: arrival.icmpCode, isIPv6: isIPv6[place])
                else { return }
                return answers.append(
                    ScanAnswer(probe: .init(host: host, port: port, attempt: attempt), reason: reason))
            }
            // IPv4's raw sockets give the IP header too.
            let offset = isIPv6[place] ? 0 : Int(octets[0] & 15) * 4
            guard let answer = probes.synAnswer(view, at: offset, host: host), let port = index.port(answer.port)
            else { return }
            answers.append(
                ScanAnswer(probe: .init(host: host, port: port, attempt: answer.attempt), reason: answer.reason))
        }
    }
}
