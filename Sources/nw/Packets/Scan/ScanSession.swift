import CausewayPackets
import CausewaySystem
import CausewayTypes

/// One run of `nw scan`, on its own thread.
final class ScanSession {
    private let command: ScanCommand
    private let targets: [ScanTarget]
    private let technique: ScanTechnique
    private let ports: [UInt16]
    /// Links on which ARP and neighbour solicitations can be sent.
    private let links: [NeighbourLink]
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var lastProgress: ContinuousClock.Instant
    private var openPorts = 0
    private let survey = SurveyLoop()
    private var done = 0
    /// Number of hosts that are up; `nil` if ports are probed without host discovery.
    private var upCount: Int?

    /// Maximum number of hosts probed at the same time, even if there are few ports.
    private static let maximumHosts = 4096
    init(_ command: ScanCommand, _ targets: [ScanTarget]) throws {
        self.command = command
        self.targets = targets
        technique = try Self.technique(command)
        ports = try command.portList(technique)
        links = technique == .echo || !command.skipsDiscovery ? NeighbourLink.find(targets) : []
        start = clock.now
        lastProgress = start
    }

    private static func technique(_ command: ScanCommand) throws -> ScanTechnique {
        if command.udp { return .udp }
        if command.hosts { return .echo }
        if command.connect { return .connect }
        guard command.syn, !mayUseRawSockets else { return mayUseRawSockets ? .syn : .connect }
        throw CommandFailure(
            "--syn requires the capability CAP_NET_RAW: use --connect, run as root, or run once: setcap cap_net_raw=ep \(CommandLine.arguments[0])"
        )
    }

    private static var mayUseRawSockets: Bool {
        (try? PacketSockets.rawTCP(isIPv6: false, firstPort: 1, portCount: 1)) != nil
    }

    func run(until stop: StopFlag) throws {
        let each = max(1, min(Self.maximumHosts, PortSurvey.maximumProbes / ports.count))
        for group in Self.groups(targets, of: Self.maximumHosts) where !stop.isSet {
            for part in Self.groups(try present(group, stop), of: each) where !stop.isSet { try scan(part, stop) }
        }
        StatusLine.erase()
        if !command.json {
            let up = upCount.map { " (\($0) up)" } ?? ""
            let unit = technique == .echo ? "up" : "open"
            let seconds = PingSession.decimals((clock.now - start) / .seconds(1))
            let what = technique == .echo ? "" : ", \(ports.count) ports each"
            printLine("Scanned \(done) host\(done == 1 ? "" : "s")\(up)\(what) in \(seconds) s: \(openPorts) \(unit)")
        }
        if upCount == 0 { printError("nw: scan: no host answered; --no-discovery probes their ports anyway") }
        if stop.isSet { printError("nw: scan: interrupted: the results are incomplete") }
    }

    private static func groups(_ targets: [ScanTarget], of count: Int) -> [ArraySlice<ScanTarget>] {
        stride(from: 0, to: targets.count, by: count).map { targets[$0..<min($0 + count, targets.count)] }
    }

    /// Returns the hosts whose ports are probed. Host discovery is skipped if an option says so, and for a single host that is not on a
    /// local link.
    private func present(_ group: ArraySlice<ScanTarget>, _ stop: StopFlag) throws -> [ScanTarget] {
        let isNear = targets.allSatisfy { target in links.contains { $0.source(toward: target) != nil } }
        guard technique != .echo, !command.skipsDiscovery, targets.count > 1 || isNear else { return Array(group) }
        let discovery: HostDiscovery
        do {
            discovery = try HostDiscovery(group, links, isRaw: Self.mayUseRawSockets, rate: command.rate)
        } catch let failure as CommandFailure {
            throw failure
        } catch { throw CommandFailure("cannot open the sockets of the scan", error) }
        let (up, down) = discovery.run(until: stop)
        upCount = (upCount ?? 0) + up.count
        done += down.count
        guard command.json, !command.onlyOpen else { return up }
        for target in down {
            let report = ScanReport(name: target.name, address: target.address, technique: technique, rows: [])
            printLine(PrintableText(document: report.json(state: "down")))
        }
        return up
    }

    private func wire(_ group: ArraySlice<ScanTarget>) throws -> any ScanWire {
        do {
            switch technique {
            case .syn: return try SynWire(group, ports)
            case .connect: return try ConnectWire(group, ports)
            case .udp: return try DatagramWire(group, ports, attempts: command.retries + 1)
            case .echo: return try NeighbourWire(group, links)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch { throw CommandFailure("cannot open the sockets of the scan", error) }
    }

    private func scan(_ group: ArraySlice<ScanTarget>, _ stop: StopFlag) throws {
        let wire = try wire(group)
        var settings = PortSurvey.Settings(technique)
        settings.maximumPerSecond = command.rate
        settings.attempts = command.retries + 1
        settings.maximumWaiting = wire.maximumWaiting
        settings.longestWait = .seconds(command.wait)
        if (wire as? NeighbourWire)?.isNear == true {
            settings.isNear = true
            // A host on the same link answers immediately or never, so a short wait is enough.
            settings.longestWait = min(settings.longestWait, .milliseconds(200))
        }
        var scan = PortSurvey(hosts: group.count, ports: ports.count, settings: settings)
        survey.run(&scan, wire, until: stop, progress: { progress($0, $1, $2) })
        StatusLine.erase()
        report(group, scan)
    }

    private func report(_ group: ArraySlice<ScanTarget>, _ scan: borrowing PortSurvey) {
        for (place, target) in group.enumerated() {
            done += 1
            if technique == .echo {
                report(target, scan.finding(host: place, port: 0))
                continue
            }
            var rows: [ScanReport.Row] = []
            rows.reserveCapacity(ports.count)
            for (number, port) in ports.enumerated() {
                let finding = scan.finding(host: place, port: number)
                if !command.onlyOpen || finding.state == .open { rows.append(.init(port: port, finding: finding)) }
            }
            let report = ScanReport(name: target.name, address: target.address, technique: technique, rows: rows)
            openPorts += report.openCount
            if command.onlyOpen, report.openCount == 0 { continue }
            printLine(command.json ? PrintableText(document: report.json()) : PrintableText(report: report.text))
        }
    }

    /// Prints one host of an echo scan. Hosts that are down appear only in JSON.
    private func report(_ target: ScanTarget, _ finding: ScanFinding) {
        let isUp = finding.state == .open
        if isUp { openPorts += 1 }
        if command.json {
            let state = isUp ? "up" : finding.state == .unknown ? "unknown" : "down"
            printLine(
                PrintableText(
                    document:
                        "{\"host\":\"\(target.address)\",\"state\":\"\(state)\",\"reason\":\"\(finding.reason.name)\"}")
            )
        } else if isUp {
            printLine("\(target.name) is up (\(finding.reason.name))")
        }
    }

    private func progress(_ settled: Int, _ total: Int, _ rate: Double) {
        guard StatusLine.isAvailable, clock.now - lastProgress > .milliseconds(500) else { return }
        lastProgress = clock.now
        let text = "nw: scan: \(settled * 100 / max(total, 1)) % of \(total) probes, at most \(Int(rate)) per second"
        StatusLine.show(PrintableText(foreign: text.prefix(max(0, TerminalScreen.columnCount - 1))))
    }

}
