import CausewayPackets
import CausewaySystem
import CausewayTypes

/// One run of `nw scan`, on a thread of its own.
final class ScanSession {
    private let command: ScanCommand
    private let targets: [ScanTarget]
    private let technique: ScanTechnique
    private let ports: [UInt16]
    /// Where hosts are asked as neighbours.
    private let links: [NeighbourLink]
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let showsProgress = OpenFile.standardError.kind == .terminal
    private var lastProgress: ContinuousClock.Instant
    private var openPorts = 0
    /// What is about to be sent, and what became of it.
    private var probes: [PortSurvey.Probe] = []
    private var outcomes: [(PortSurvey.Probe, ScanSending)] = []
    private var done = 0

    /// Hosts that are asked at the same time, however few their ports are.
    private static let mostHosts = 4096
    /// Probes that are sent before answers are looked for.
    private static let mostAtOnce = 64

    init(_ command: ScanCommand, _ targets: [ScanTarget]) throws {
        self.command = command
        self.targets = targets
        technique = try Self.technique(command)
        ports = try command.portList(technique)
        links = technique == .echo ? NeighbourLink.find(targets) : []
        start = clock.now
        lastProgress = start
    }

    private static func technique(_ command: ScanCommand) throws -> ScanTechnique {
        if command.udp { return .udp }
        if command.hosts { return .echo }
        if command.connect { return .connect }
        let mayUseRawSockets: Bool
        do throws(SystemError) {
            _ = try PacketSockets.rawTCP(isIPv6: false, firstPort: 1, portCount: 1)
            mayUseRawSockets = true
        } catch {
            mayUseRawSockets = false
        }
        guard command.syn, !mayUseRawSockets else { return mayUseRawSockets ? .syn : .connect }
        throw Failure(
            "--syn needs the capability CAP_NET_RAW: run as root, or once: setcap cap_net_raw=ep \(CommandLine.arguments[0]); or use --connect"
        )
    }

    func run(until stop: StopMark) throws {
        let each = max(1, min(Self.mostHosts, PortSurvey.mostProbes / ports.count))
        var first = 0
        while first < targets.count, !stop.isSet {
            let group = targets[first..<min(first + each, targets.count)]
            try scan(group, stop)
            first += group.count
        }
        clearProgress()
        if !command.json {
            let unit = technique == .echo ? "up" : "open"
            let seconds = PingSession.decimals((clock.now - start) / .seconds(1))
            let what = technique == .echo ? "" : ", \(ports.count) ports each"
            printLine("Scanned \(done) host\(done == 1 ? "" : "s")\(what) in \(seconds) s: \(openPorts) \(unit)")
        }
        if stop.isSet { printError("nw: scan: stopped before its end") }
    }

    private func wire(_ group: ArraySlice<ScanTarget>) throws -> any ScanWire {
        do {
            switch technique {
            case .syn: return try SynWire(group, ports)
            case .connect: return try ConnectWire(group, ports)
            case .udp: return try DatagramWire(group, ports, attempts: command.retries + 1)
            case .echo: return try NeighbourWire(group, links)
            }
        } catch let failure as Failure {
            throw failure
        } catch { throw Failure("scan", error) }
    }

    private func scan(_ group: ArraySlice<ScanTarget>, _ stop: StopMark) throws {
        let wire = try wire(group)
        var settings = PortSurvey.Settings(technique)
        settings.mostPerSecond = command.rate
        settings.attempts = command.retries + 1
        settings.mostWaiting = wire.mostWaiting
        settings.longestWait = .seconds(command.wait)
        if (wire as? NeighbourWire)?.isNear == true {
            settings.isNear = true
            // Who has an address is answered at once, or by nobody.
            settings.longestWait = min(settings.longestWait, .milliseconds(200))
        }
        var scan = PortSurvey(hosts: group.count, ports: ports.count, settings: settings)
        var answers: [ScanAnswer] = []
        while !stop.isSet, let pause = sendSome(&scan, wire) {
            wire.collect(into: &answers, milliseconds: pause)
            let now = clock.now - start
            for answer in answers { scan.answered(answer.probe, answer.reason, at: now) }
            answers.removeAll(keepingCapacity: true)
            for probe in scan.givenUp { wire.forget(probe) }
            scan.clearGivenUp()
            progress(scan.settled, scan.probeCount, scan.rate)
        }
        clearProgress()
        report(group, scan)
    }

    /// Sends what may be sent, some probes at once. Returns for how many milliseconds nothing else is to be done, `nil` at the end.
    private func sendSome(_ scan: inout PortSurvey, _ wire: any ScanWire) -> CInt? {
        // One time for all of them: the clock would cost more than some of the probes' own work.
        let now = clock.now - start
        var pause: CInt = 0
        collecting: while probes.count < Self.mostAtOnce {
            switch scan.next(at: now) {
            case .finished: return nil
            case .wait(let until):
                // Never longer, so that an interrupt is seen soon.
                pause = CInt(max(1, min(100, Int((until - now) / .milliseconds(1)))))
                break collecting
            case .send(let probe): probes.append(probe)
            }
        }
        outcomes.removeAll(keepingCapacity: true)
        wire.send(probes) { outcomes.append(($0, $1)) }
        probes.removeAll(keepingCapacity: true)
        return tell(&scan) ? pause : 1
    }

    /// Tells what became of probes. Returns whether there was room for all of them.
    private func tell(_ scan: inout PortSurvey) -> Bool {
        guard !outcomes.isEmpty else { return true }
        // Answers have come since the probes left.
        let now = clock.now - start
        var hasRoom = true
        for (probe, sending) in outcomes {
            switch sending {
            case .sent: break
            case .answered(let reason): scan.answered(probe, reason, at: now)
            case .busy:
                scan.refused(probe, at: now)
                hasRoom = false
            }
        }
        return hasRoom
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
            printLine(command.json ? PrintableText(document: report.json) : PrintableText(report: report.text))
        }
    }

    /// Of hosts only those that are there, unless a program reads.
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
        guard showsProgress, clock.now - lastProgress > .milliseconds(500) else { return }
        lastProgress = clock.now
        let text: PrintableText =
            "\rnw: scan: \(settled * 100 / max(total, 1)) % of \(total) probes, at most \(Int(rate)) a second "
        try? OpenFile.standardError.put(text)
    }

    private func clearProgress() {
        guard showsProgress else { return }
        try? OpenFile.standardError.put("\r\u{1B}[K")
    }
}
