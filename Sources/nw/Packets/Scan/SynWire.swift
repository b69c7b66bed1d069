import CausewayPackets
import CausewaySystem
import CausewayWire

/// Probes TCP ports with SYN segments on a raw socket. The kernel resets the answered connections, because it has no socket for them.
final class SynWire: ScanWire {
    private let targets: ArraySlice<ScanTarget>
    private let ports: [UInt16]
    private let index: ScanIndex
    private let sources: [InternetAddress?]
    private let probes: ScanProbes
    private var sockets = ScanSockets()
    /// For each socket index, the segments to send, and the probes to which they belong.
    private var batches: [(segments: PacketBatch, probes: [PortSurvey.Probe])] = []
    /// Maps each target to a socket. The value is the index of the socket that sends this target's probes.
    private let places: [Int]

    /// - Throws: ``SystemError`` with `EPERM` if the process may not open raw sockets.
    init(_ targets: ArraySlice<ScanTarget>, _ ports: [UInt16]) throws(SystemError) {
        self.targets = targets
        self.ports = ports
        index = ScanIndex(targets, ports)
        probes = ScanProbes(secret: .random(in: 0...UInt64.max), firstPort: Self.freePort())
        var family: [Bool: Int] = [:]
        for isIPv6 in [false, true] where targets.contains(where: { $0.isIPv6 == isIPv6 }) {
            family[isIPv6] = family.count
            let count = UInt16(ScanProbes.maximumAttempts)
            sockets.add(
                try PacketSockets.rawTCP(isIPv6: isIPv6, firstPort: probes.firstPort, portCount: count), isIPv6: isIPv6)
        }
        places = targets.map { family[$0.isIPv6] ?? 0 }
        let segments = PacketBatch(to: targets.map(\.socketAddress), byteCount: ScanProbes.synByteCount)
        batches = Array(repeating: (segments, []), count: family.count)
        sources = SourceAddress.toward(targets.map(\.socketAddress)).map { $0?.address }
    }

    /// Returns the first source port for the probes. It lies outside the kernel's range of ephemeral ports.
    ///
    /// The kernel could give a port in that range to another program's socket. That socket would then receive the
    /// answers to our probes, or reply to the target.
    private static func freePort() -> UInt16 {
        let taken = System.temporaryPorts
        let count = UInt16(ScanProbes.maximumAttempts)
        let above = UInt32(taken.upperBound) + 1
        if above + UInt32(count) < 65_535 { return .random(in: UInt16(above)...(65_535 - count)) }
        return .random(in: 1024...max(1024, taken.lowerBound - min(taken.lowerBound - 1024, count)))
    }

    func send(_ probe: PortSurvey.Probe) -> ScanSending {
        var result = ScanSending.sent
        send([probe]) { result = $1 }
        return result
    }

    func send(_ all: [PortSurvey.Probe], _ outcome: (PortSurvey.Probe, ScanSending) -> Void) {
        for probe in all {
            guard let source = sources[probe.host] else {
                outcome(probe, .answered(.netUnreachable))
                continue
            }
            let place = places[probe.host]
            let address = targets[targets.startIndex + probe.host].address
            batches[place].segments.add(to: probe.host) {
                probes.appendSyn(
                    from: source, to: address, host: probe.host, port: ports[probe.port], attempt: probe.attempt,
                    to: &$0)
            }
            batches[place].probes.append(probe)
        }
        for place in batches.indices {
            let sent = batches[place].probes
            sockets.send(batches[place].segments, over: place) { outcome(sent[$0], $1) }
            batches[place].segments.removeAll()
            batches[place].probes.removeAll(keepingCapacity: true)
        }
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        let (index, probes) = (index, probes)
        let isIPv6 = sockets.families
        sockets.collect(milliseconds: milliseconds) { bytes, peer, report, place in
            guard let host = index.host(peer) else { return }
            let view = ByteView(bytes)
            if let report {
                guard let (number, attempt) = probes.repeated(view, at: 0), let port = index.port(number),
                    let peer, let reason = report.reason(of: peer, isIPv6: isIPv6[place])
                else { return }
                return answers.append(
                    ScanAnswer(probe: .init(host: host, port: port, attempt: attempt), reason: reason))
            }
            // IPv4 raw sockets deliver the IP header too.
            let offset = isIPv6[place] ? 0 : bytes.isEmpty ? 0 : Int(bytes[0] & 15) * 4
            guard let answer = probes.synAnswer(view, at: offset, host: host), let port = index.port(answer.port)
            else { return }
            answers.append(
                ScanAnswer(probe: .init(host: host, port: port, attempt: answer.attempt), reason: answer.reason))
        }
    }
}
