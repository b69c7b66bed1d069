import Testing

@testable import CausewayPackets

@Suite("Scheduling of a port scan")
struct PortSurveyTests {
    /// A simulated network that answers the probes of a scan, in virtual time.
    struct Network {
        var now = Duration.zero
        var sent: [(probe: PortSurvey.Probe, at: Duration)] = []
        private var flying: [(at: Duration, probe: PortSurvey.Probe, reason: ScanFinding.Reason)] = []

        /// - Parameter answer: Returns the simulated answer to a probe, with its delay. Returns `nil` if there is no
        ///   answer.
        mutating func run(
            _ scan: inout PortSurvey, until end: Duration = .seconds(600),
            answer: (PortSurvey.Probe, Duration) -> (Duration, ScanFinding.Reason)?
        ) -> Bool {
            while now < end {
                while let first = flying.first, first.at <= now {
                    scan.answered(first.probe, first.reason, at: first.at)
                    flying.removeFirst()
                }
                switch scan.next(at: now) {
                case .finished: return true
                case .send(let probe):
                    sent.append((probe, now))
                    if let (delay, reason) = answer(probe, now) {
                        let place = flying.firstIndex { $0.at > now + delay } ?? flying.endIndex
                        flying.insert((now + delay, probe, reason), at: place)
                    }
                    now += .microseconds(1)
                case .wait(let until):
                    #expect(until > now, "a wait until a past time never ends")
                    now = max(now + .microseconds(1), min(until, flying.first?.at ?? until))
                }
            }
            return false
        }
    }

    static func scan(_ hosts: Int = 1, _ ports: Int, _ change: (inout PortSurvey.Settings) -> Void = { _ in })
        -> PortSurvey
    {
        var settings = PortSurvey.Settings(.syn)
        change(&settings)
        return PortSurvey(hosts: hosts, ports: ports, settings: settings)
    }

    @Test("All ports are probed once if all answer, without waiting")
    func everythingAnswers() {
        var scan = Self.scan(1, 65_535)
        var network = Network()
        #expect(network.run(&scan) { _, _ in (.microseconds(100), .reset) })
        #expect(network.sent.count == 65_535)
        #expect(network.now < .seconds(1), "the rate increases with the answers: \(network.now)")
        #expect(scan.finding(host: 0, port: 65_534) == ScanFinding(.reset, technique: .syn))
    }

    @Test("Silent ports of a near host are probed three times within half a second")
    func someSilent() {
        var scan = Self.scan(1, 1000)
        var network = Network()
        #expect(network.run(&scan) { probe, _ in probe.port % 10 == 3 ? nil : (.microseconds(200), .synAck) })
        #expect(network.sent.count == 900 + 3 * 100)
        #expect(network.now < .milliseconds(700), "\(network.now)")
        #expect(scan.finding(host: 0, port: 3).state == .filtered)
        #expect(scan.finding(host: 0, port: 4).state == .open)
    }

    @Test("Probes from before the first answer do not wait for the maximum time")
    func firstSilent() {
        var scan = Self.scan(1, 400)
        var network = Network()
        #expect(network.run(&scan) { probe, _ in probe.port < 200 ? nil : (.microseconds(200), .reset) })
        #expect(network.now < .milliseconds(700), "\(network.now)")
    }

    @Test("A silent host is probed twice", arguments: [(1000, 2500), (10_000, 3500)])
    func nothingAnswers(_ ports: Int, _ milliseconds: Int) {
        var scan = Self.scan(1, ports)
        var network = Network()
        #expect(network.run(&scan) { _, _ in nil })
        #expect(network.sent.count == 2 * ports)
        #expect(network.now <= .milliseconds(milliseconds), "\(network.now)")
    }

    @Test("The number of probes in any second obeys the user's limit", arguments: [5.0, 100, 2000])
    func cap(_ rate: Double) {
        var scan = Self.scan(2, 500) { $0.maximumPerSecond = rate }
        var network = Network()
        _ = network.run(&scan, until: .seconds(5)) { _, _ in (.microseconds(50), .reset) }
        for (place, first) in network.sent.enumerated() {
            let inSecond = network.sent[place...].prefix { $0.at < first.at + .seconds(1) }.count
            #expect(Double(inSecond) <= rate * 1.05 + 1)
        }
    }

    @Test("The rate has an upper limit, also if the user sets none", arguments: [nil, 1e30, .infinity] as [Double?])
    func highest(_ limit: Double?) {
        var scan = Self.scan(1, 20_000) { $0.maximumPerSecond = limit }
        var network = Network()
        let isFinished = network.run(&scan) { _, _ in (.milliseconds(1), .reset) }
        let rate = scan.rate
        #expect(isFinished)
        #expect(rate <= 1_000_000)
    }

    @Test("Answers to a second attempt indicate loss, which halves the rate; no port is missed")
    func loss() {
        var scan = Self.scan(1, 20_000)
        var network = Network()
        var asked = 0
        var most = 0.0
        #expect(
            network.run(&scan) { probe, _ in
                asked += 1
                // The simulated network loses every seventh packet.
                return asked % 7 == 0 ? nil : (.milliseconds(1), probe.port % 100 == 0 ? .synAck : .reset)
            })
        most = scan.rate
        var calm = Self.scan(1, 20_000)
        var other = Network()
        #expect(other.run(&calm) { _, _ in (.milliseconds(1), .reset) })
        #expect(most < calm.rate)
        let missed = (0..<20_000).count { scan.finding(host: 0, port: $0).state == .filtered }
        #expect(missed < 100, "three attempts, each lost with probability 1/7")
    }

    @Test("Late answers of a slow host count, and lengthen the timeout")
    func late() {
        var scan = Self.scan(1, 2000)
        var network = Network()
        #expect(
            network.run(&scan) { probe, now in
                (now < .milliseconds(20) ? .milliseconds(10) : .milliseconds(180), .reset)
            })
        for port in 0..<2000 { #expect(scan.finding(host: 0, port: port).reason == .reset) }
    }

    @Test("An answer counts once; an unsolicited one has no effect")
    func strangeAnswers() {
        var scan = Self.scan(2, 3)
        scan.answered(.init(host: 0, port: 0, attempt: 0), .synAck, at: .zero)
        #expect(scan.finding(host: 0, port: 0).state == .unknown)
        scan.answered(.init(host: 7, port: -1, attempt: 0), .synAck, at: .zero)
        guard case .send(let probe) = scan.next(at: .zero) else { return #expect(Bool(false)) }
        scan.answered(probe, .synAck, at: .milliseconds(1))
        scan.answered(probe, .reset, at: .milliseconds(2))
        #expect(scan.finding(host: probe.host, port: probe.port).reason == .synAck)
        #expect(scan.settled == 1)
    }

    @Test("A probe that the kernel has no room for is sent later, and does not count as an attempt")
    func refused() {
        var scan = Self.scan(1, 50) { $0.attempts = 1 }
        var network = Network()
        var refusals = 0
        while refusals < 20 {
            switch scan.next(at: network.now) {
            case .send(let probe):
                refusals += 1
                scan.refused(probe, at: network.now)
            case .wait(let until): network.now = until
            case .finished: return #expect(Bool(false))
            }
        }
        #expect(network.run(&scan) { _, _ in (.milliseconds(1), .synAck) })
        for port in 0..<50 { #expect(scan.finding(host: 0, port: port).state == .open) }
    }

    @Test("A scan with more probes than may wait continues as they time out")
    func bounded() {
        var scan = Self.scan(1, 300) { $0.maximumWaiting = 16 }
        var network = Network()
        #expect(network.run(&scan) { _, _ in nil })
        for (place, probe) in network.sent.enumerated() where place >= 16 {
            #expect(probe.at > network.sent[place - 16].at)
        }
    }

    @Test(
        "Any order of calls keeps the counts consistent",
        arguments: 0..<100 as Range<UInt64>)
    func anyOrder(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var scan = Self.scan(3, 20) { $0.maximumWaiting = 10 }
        var now = Duration.zero
        for _ in 0..<3000 {
            now += .microseconds(Int.random(in: 0...30_000, using: &random))
            let probe = PortSurvey.Probe(
                host: .random(in: -1...3, using: &random), port: .random(in: -1...20, using: &random),
                attempt: .random(in: -1...4, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: scan.answered(probe, ScanFinding.Reason.allCases.randomElement(using: &random) ?? .reset, at: now)
            case 1: scan.refused(probe, at: now)
            default: _ = scan.next(at: now)
            }
        }
        var network = Network()
        network.now = now
        #expect(network.run(&scan, until: now + .seconds(60)) { _, _ in nil })
        #expect(scan.settled == 60)
    }
}

/// A random number generator with a seed.
private struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
