import CausewayPackets
import CausewaySystem

/// Finds out which hosts are there before their ports are asked: each port of an absent host would be waited for.
///
/// Neighbours are asked by ARP and its like, all others by ICMP echo and at a few TCP ports at once, for many hosts answer only one of these.
struct HostDiscovery {
    private let targets: ArraySlice<ScanTarget>
    private let wire: DiscoveryWire
    private var settings = PortSurvey.Settings(.echo)

    /// Times that each question is asked.
    private static let attempts = 2
    private static let longestWait = Duration.seconds(1)
    /// Of a host on the same link, which answers at once where it is there.
    private static let longestWaitNear = Duration.milliseconds(200)

    /// - Parameters:
    ///   - links: Where neighbours may be asked.
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

    /// The hosts that answered, or all that were not asked when the mark was set.
    func run(until stop: StopMark) -> (up: [ScanTarget], down: [ScanTarget]) {
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
    /// Whether the host itself has answered, and no router for it.
    fileprivate var isSignOfLife: Bool {
        switch self {
        case .synAck, .reset, .connectionRefused, .udpResponse, .echoReply, .arpResponse, .neighbourResponse,
            .portUnreachable, .protocolUnreachable:
            true
        default: false
        }
    }
}

/// Asks whether hosts are there, in several ways at once: the first "port" is the host itself, the others are TCP's.
private final class DiscoveryWire: ScanWire {
    /// Ports that most hosts answer at, if only to refuse.
    private static let knocks: [UInt16] = [443, 80, 22]
    static let questionCount = 1 + knocks.count

    /// `nil` where this process may not send echo requests.
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
        // A neighbour that does not tell its link-layer address can be asked nothing else.
        if hosts?.isNear(probe.host) == true { return .answered(.hostUnreachable) }
        return knocking.send(Self.knock(probe))
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        guard !isNear else {
            hosts?.collect(into: &answers, milliseconds: milliseconds)
            return
        }
        // Two ways to listen: each for a moment.
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
