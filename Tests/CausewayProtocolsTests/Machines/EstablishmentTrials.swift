import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire

/// Random tests of the state machines for connection attempts, and of proxy script evaluation.
enum EstablishmentTrials {
    static var all: [any MachineTesting] { [attempts, addresses, script] }

    private static var attempts: any MachineTesting {
        MachineTrial("AttemptRace", model: ()) { random in
            AttemptRace(attemptDelay: .milliseconds(random.integer(in: 0...500)))
        } event: { race, _, now, random in
            switch random.integer(in: 0...9) {
            case 0, 1, 2: race.joined(by: random.integer(in: 0...3), at: now)
            case 3, 4: race.failed(random.integer(in: 0...9), at: now)
            case 5, 6: random.chance(oneIn: 3) ? race.connected(random.integer(in: 0...9)) : []
            case 7: race.skipped(at: now)
            default: random.chance(oneIn: 3) ? race.closed(at: now) : race.failed(random.integer(in: 0...3), at: now)
            }
        }.ending(with: isEnd).ignoring(isReminder)
    }

    private static var addresses: any MachineTesting {
        MachineTrial("AddressRace", model: ()) { _ in
            AddressRace(awaiting: [.ipv4, .ipv6])
        } event: { race, _, now, random in
            switch random.integer(in: 0...9) {
            case 0, 1, 2: race.found((0...random.integer(in: 0...2)).map { _ in found(&random) }, at: now).steps
            case 3: race.settled(random.chance(oneIn: 2) ? .ipv4 : .ipv6, at: now)
            case 4, 5, 6: race.failed(random.integer(in: 0...5), at: now)
            case 7: random.chance(oneIn: 3) ? race.connected(random.integer(in: 0...5)) : []
            default: race.skipped(at: now)
            }
        }.ending(with: isEnd).ignoring(isReminder)
    }

    private static func found(
        _ random: inout SplitMix64
    ) -> (destination: Destination, experience: AddressRace.History) {
        let number = random.integer(in: 1...6)
        let address: InternetAddress =
            number % 2 == 0
            ? .ipv4(IPv4Address(bits: 0x0A00_0000 + UInt32(number)))
            : .ipv6(IPv6Address(high: 0x2001_0DB8 << 32, low: UInt64(number)))
        var history = AddressRace.History()
        history.hasWorked = random.chance(oneIn: 4)
        history.hasFailed = random.chance(oneIn: 4)
        if random.chance(oneIn: 2) { history.roundTrip = .milliseconds(random.integer(in: 0...900)) }
        let source = Destination.Source(address, prefixLength: 24)
        return (Destination(address, source: random.chance(oneIn: 3) ? nil : source), history)
    }

    private static func isEnd(_ step: AttemptRace.Step) -> Bool {
        switch step {
        case .win, .exhausted: true
        case .start, .wake, .abandon: false
        }
    }

    private static func isReminder(_ step: AttemptRace.Step) -> Bool {
        switch step {
        case .wake: true
        case .start, .abandon, .win, .exhausted: false
        }
    }

    private static var script: any MachineTesting {
        MachineTrial("PACConversation", model: ()) { _ in
            PACConversation()
        } event: { conversation, _, _, random in
            let step: PACConversation.Step
            switch random.integer(in: 0...19) {
            case 0: step = conversation.ended()
            case 1: step = conversation.received(random.bytes(random.integer(in: 0...9)))
            case 2: step = conversation.received(Array("R".utf8) + random.bytes(3))
            case 3...9:
                _ = conversation.found(["192.0.2.1"])
                step = .none
            case 10...14: step = conversation.received(Array("Lline".utf8))
            default: step = conversation.received(Array("Qname".utf8))
            }
            return step == .none ? [] : [step]
        }.ending {
            if case .end = $0 { true } else { false }
        }.untimed()
    }
}
