import CausewayPackets
import CausewaySystem

/// Checks hosts with ICMP echo requests, on datagram ICMP sockets if the system allows them, otherwise on raw sockets.
final class EchoWire: ScanWire {
    private let targets: ArraySlice<ScanTarget>
    private let index: ScanIndex
    private let identifier = UInt16.random(in: 1...UInt16.max)
    private var sockets = ScanSockets()
    private let family: [Bool: Int]
    private let isRaw: [Bool]

    init(_ targets: ArraySlice<ScanTarget>) throws {
        self.targets = targets
        index = ScanIndex(targets, [0])
        var family: [Bool: Int] = [:]
        var raw: [Bool] = []
        for isIPv6 in [false, true] where targets.contains(where: { $0.isIPv6 == isIPv6 }) {
            family[isIPv6] = family.count
            var isRaw = false
            sockets.add(try PingSession.open(isIPv6, &isRaw), isIPv6: isIPv6)
            raw.append(isRaw)
        }
        self.family = family
        isRaw = raw
    }

    func send(_ probe: PortSurvey.Probe) -> ScanSending {
        let target = targets[targets.startIndex + probe.host]
        guard let place = family[target.isIPv6] else { return .answered(.netUnreachable) }
        var packet = PacketBuilder()
        packet.add(
            .echo(type: target.isIPv6 ? 128 : 8, identifier: identifier, sequence: UInt16(probe.attempt & 255)))
        return sockets.send(packet.finish(), to: target.socketAddress, over: place)
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        let (index, isRaw, identifier, isIPv6) = (index, isRaw, identifier, sockets.families)
        sockets.collect(milliseconds: milliseconds) { bytes, peer, report, place in
            guard let host = index.host(peer), !bytes.isEmpty else { return }
            let view = ByteView(bytes)
            let offset = isRaw[place] && !isIPv6[place] && report == nil ? Int(bytes[0] & 15) * 4 : 0
            guard let header = try? ICMPHeader(view, at: offset), !isRaw[place] || header.identifier == identifier
            else { return }
            let probe = PortSurvey.Probe(host: host, port: 0, attempt: Int(header.sequence))
            if let report {
                if let reason = ScanFinding.Reason(
                    icmpType: report.icmpType, code: report.icmpCode, isIPv6: isIPv6[place])
                {
                    answers.append(ScanAnswer(probe: probe, reason: reason))
                }
            } else if header.type == (isIPv6[place] ? 129 : 0) {
                answers.append(ScanAnswer(probe: probe, reason: .echoReply))
            }
        }
    }
}
