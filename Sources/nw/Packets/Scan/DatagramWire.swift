import CausewayPackets
import CausewaySystem

/// Probes UDP ports with datagrams. Replies and ICMP errors can be read without privilege.
final class DatagramWire: ScanWire {
    private let targets: ArraySlice<ScanTarget>
    private let ports: [UInt16]
    private let index: ScanIndex
    private let attempts: Int
    /// The sockets for the probes: one for each attempt and address family. So an answer's socket identifies its probe.
    private var sockets = ScanSockets()
    private let family: [Bool: Int]

    init(_ targets: ArraySlice<ScanTarget>, _ ports: [UInt16], attempts: Int) throws(SystemError) {
        self.targets = targets
        self.ports = ports
        self.attempts = attempts
        index = ScanIndex(targets, ports)
        var family: [Bool: Int] = [:]
        for isIPv6 in [false, true] where targets.contains(where: { $0.isIPv6 == isIPv6 }) {
            family[isIPv6] = family.count * attempts
            for _ in 0..<attempts {
                let socket = try Socket.open(isIPv6 ? .ipv6 : .ipv4, .datagram)
                try PacketSockets.reportErrors(socket.rawValue, isIPv6: isIPv6)
                sockets.add(socket, isIPv6: isIPv6)
            }
        }
        self.family = family
    }

    func send(_ probe: PortSurvey.Probe) -> ScanSending {
        let target = targets[targets.startIndex + probe.host]
        guard let first = family[target.isIPv6] else { return .answered(.netUnreachable) }
        let port = ports[probe.port]
        return sockets.send(
            ScanProbes.datagram(for: port), to: target.socketAddress.with(port: port), over: first + probe.attempt)
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        let (index, attempts) = (index, attempts)
        let isIPv6 = sockets.families
        sockets.collect(milliseconds: milliseconds) { _, peer, report, place in
            guard let peer, let host = index.host(peer), let port = index.port(peer.port) else { return }
            let probe = PortSurvey.Probe(host: host, port: port, attempt: place % attempts)
            guard let report else { return answers.append(ScanAnswer(probe: probe, reason: .udpResponse)) }
            if let reason = report.reason(of: peer, isIPv6: isIPv6[place]) {
                answers.append(ScanAnswer(probe: probe, reason: reason))
            }
        }
    }
}
