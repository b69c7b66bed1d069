import CausewayPackets
import CausewaySystem

/// Finds hosts that are up before their ports are probed, because every port of an absent host would have to time out.
///
/// Hosts on the same link are queried with ARP or neighbour solicitations. Other hosts are probed with ICMP echo and on a few TCP ports at
/// once, because many hosts answer only one of these.
struct HostDiscovery {
    private let targets: ArraySlice<ScanTarget>
    private let wire: DiscoveryWire
    private var settings = PortSurvey.Settings(.echo)

    /// Number of times each probe is sent.
    private static let attempts = 2
    private static let longestWait = Duration.seconds(1)
    /// Maximum time to wait for hosts on the same link, which answer immediately if they are up.
    private static let longestWaitNear = Duration.milliseconds(200)

    /// - Parameters:
    ///   - links: Links on which ARP and neighbour solicitations can be sent.
    ///   - isRaw: Whether this process may send raw segments.
    init(_ targets: ArraySlice<ScanTarget>, _ links: [NeighbourLink], isRaw: Bool, rate: Double?) throws {
        self.targets = targets
        wire = try DiscoveryWire(targets, links, isRaw: isRaw)
        settings.attempts = Self.attempts
        settings.maximumPerSecond = rate
        settings.maximumWaiting = wire.maximumWaiting
        settings.isNear = wire.isNear
        settings.longestWait = wire.isNear ? Self.longestWaitNear : Self.longestWait
    }

    /// Probes the hosts. If `stop` is set, the search ends, and hosts that have not answered yet count as down.
    func run(until stop: StopFlag) -> (up: [ScanTarget], down: [ScanTarget]) {
        var isUp = [Bool](repeating: false, count: targets.count)
        var missing = targets.count
        var scan = PortSurvey(hosts: targets.count, ports: DiscoveryWire.questionCount, settings: settings)
        SurveyLoop().run(
            &scan, wire, until: stop,
            heard: { probe, reason in
                if !isUp[probe.host], reason.isSignOfLife { (isUp[probe.host], missing) = (true, missing - 1) }
                return missing > 0
            })
        let found = zip(targets, isUp)
        return (found.filter(\.1).map(\.0), found.filter { !$0.1 }.map(\.0))
    }
}

extension ScanFinding.Reason {
    /// Whether the answer came from the host itself and not from a router.
    fileprivate var isSignOfLife: Bool {
        switch self {
        case .synAck, .reset, .connectionRefused, .udpResponse, .echoReply, .arpResponse, .neighbourResponse,
            .portUnreachable, .protocolUnreachable:
            true
        default: false
        }
    }
}

/// Probes hosts in two ways at the same time: the hosts themselves, and some of their TCP ports. A probe of port 0
/// stands for the host itself.
private final class DiscoveryWire: ScanWire {
    /// Ports that are probed to find hosts. At these ports, most hosts at least answer with a reset.
    private static let knocks: [UInt16] = [443, 80, 22]
    static let questionCount = 1 + knocks.count

    /// Probes the hosts themselves with echo requests or neighbour requests. `nil` if this process may not send such
    /// requests.
    private let hosts: NeighbourWire?
    private let knocking: any ScanWire
    let isNear: Bool
    var maximumWaiting: Int { knocking.maximumWaiting }

    init(_ targets: ArraySlice<ScanTarget>, _ links: [NeighbourLink], isRaw: Bool) throws {
        hosts = try? NeighbourWire(targets, links)
        isNear = hosts?.isNear ?? false
        knocking = isRaw ? try SynWire(targets, Self.knocks) : try ConnectWire(targets, Self.knocks)
    }

    func send(_ probe: PortSurvey.Probe) -> ScanSending {
        guard probe.port > 0 else { return hosts?.send(probe) ?? .answered(.netUnreachable) }
        // A host on the same link that does not answer ARP or neighbour solicitations is unreachable. So do not probe
        // its ports.
        if hosts?.isNear(probe.host) == true { return .answered(.hostUnreachable) }
        return knocking.send(Self.knock(probe))
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        guard !isNear else {
            hosts?.collect(into: &answers, milliseconds: milliseconds)
            return
        }
        // First poll for answers to the host probes, then for answers to the TCP probes. Each poll waits for at most 2
        // ms.
        hosts?.collect(into: &answers, milliseconds: min(milliseconds, 2))
        let first = answers.count
        knocking.collect(into: &answers, milliseconds: min(milliseconds, 2))
        for place in first..<answers.count { answers[place].probe.port += 1 }
    }

    func forget(_ probe: PortSurvey.Probe) {
        if probe.port > 0 { knocking.forget(Self.knock(probe)) }
    }

    private static func knock(_ probe: PortSurvey.Probe) -> PortSurvey.Probe {
        PortSurvey.Probe(host: probe.host, port: probe.port - 1, attempt: probe.attempt)
    }
}
