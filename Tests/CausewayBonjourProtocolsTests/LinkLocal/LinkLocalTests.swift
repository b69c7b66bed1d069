import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

/// Conformance items for address autoconfiguration (RFC 3927).
@Suite("Link-local IPv4 addresses")
struct LinkLocalTests {
    private typealias Action = LinkLocalClaim.Action

    private static let own = LinkAddress(bits: 0x0200_0000_0001)
    private static let other = LinkAddress(bits: 0x0200_0000_0002)

    /// A host under a virtual clock. Records its actions and their times.
    private struct Host {
        var claim: LinkLocalClaim
        var now: Duration = .zero
        var done: [(time: Duration, action: Action)] = []

        init(_ link: LinkAddress = LinkLocalTests.own, remembered: IPv4Address? = nil, seed: UInt64 = 1) {
            claim = LinkLocalClaim(link, remembered: remembered, random: Chance(state: seed))
        }

        mutating func note(_ actions: [Action]) { done += actions.map { (now, $0) } }

        mutating func link(isUp: Bool = true, hasRoutable: Bool = false) {
            note(claim.linkChanged(isUp: isUp, hasRoutable: hasRoutable, at: now))
        }

        mutating func hear(_ packet: ARPMessage) { note(claim.received(packet, at: now)) }

        mutating func run(for duration: Duration) {
            let end = now + duration
            while let next = claim.deadline, next <= end {
                now = max(now, next)
                note(claim.advance(to: now))
            }
            now = end
        }

        var packets: [(time: Duration, packet: ARPMessage)] {
            done.compactMap { time, action in if case .send(let packet) = action { (time, packet) } else { nil } }
        }

        var assigned: [IPv4Address] {
            done.compactMap { if case .assign(let address) = $0.action { address } else { nil } }
        }

        /// Returns a host whose address is established.
        static func settled() -> Host {
            var host = Host()
            host.link()
            host.run(for: .seconds(120))
            return host
        }

        /// Sends an ARP message of another host that has an address.
        mutating func contradict(_ address: IPv4Address, _ operation: ARPMessage.Operation = .reply) {
            hear(ARPMessage(operation, senderLink: LinkLocalTests.other, sender: address, target: address))
        }
    }

    @Test("C98: addresses come from the whole range without its reserved ends")
    func range() {
        var highs: Set<UInt32> = []
        for number in 0..<500 {
            var candidates = LinkLocalCandidates(LinkAddress(bits: UInt64(number)))
            for _ in 0..<10 {
                let address = candidates.next()
                #expect(LinkLocalCandidates.contains(address) && address.bits >> 16 == 0xA9FE)
                #expect((1...254).contains(address.bits >> 8 & 0xFF))
                highs.insert(address.bits >> 8 & 0xFF)
            }
        }
        #expect(highs.count == 254)
        #expect(!LinkLocalCandidates.contains(IPv4Address("169.254.0.255")!))
        #expect(!LinkLocalCandidates.contains(IPv4Address("169.254.255.0")!))
    }

    @Test("C98: each host has its own reproducible order of addresses; the last used address is tried first")
    func order() {
        var (one, same, next) = (Host(), Host(seed: 9), Host(LinkLocalTests.other))
        one.link()
        same.link()
        next.link()
        #expect(one.claim.candidate != nil && one.claim.candidate == same.claim.candidate)
        #expect(one.claim.candidate != next.claim.candidate)
        var back = Host(remembered: IPv4Address("169.254.7.7")!)
        back.link()
        #expect(back.claim.candidate == IPv4Address("169.254.7.7")!)
        var wrong = Host(remembered: IPv4Address("10.0.0.1")!)
        wrong.link()
        #expect(wrong.claim.candidate == one.claim.candidate)
    }

    @Test(
        "C99: the first of three probes comes within a second, the others 1 to 2 s apart; the address is used after 2 s of silence",
        arguments: 0..<20)
    func probing(_ seed: UInt64) {
        var host = Host(seed: seed)
        host.link()
        let address = host.claim.candidate!
        host.run(for: .seconds(30))
        let probes = host.packets.filter { $0.packet.sender.bits == 0 }
        #expect(probes.count == 3 && probes[0].time < .seconds(1))
        for (first, second) in zip(probes, probes.dropFirst()) {
            #expect((Duration.seconds(1)..<Duration.seconds(2)).contains(second.time - first.time))
        }
        for probe in probes {
            #expect(probe.packet.operation == .request && probe.packet.target == address)
            #expect(probe.packet.senderLink == Self.own && probe.packet.targetLink.bits == 0)
        }
        let assigned = host.done.first { $0.action == .assign(address) }
        #expect(assigned?.time == probes[2].time + .seconds(2))
        // By now, slightly more than six seconds have passed since the start. The address becomes usable at this time.
        #expect(assigned!.time < .seconds(7))
    }

    @Test(
        "C99: an address that another host has or probes for is not used; the next one is tried, at any time while probing"
    )
    func conflict() {
        for wait in [0, 500, 2_500, 3_900] {
            for isProbe in [false, true] {
                var host = Host()
                host.link()
                let first = host.claim.candidate!
                host.run(for: .milliseconds(wait))
                let unspecified = IPv4Address(bits: 0)
                host.hear(
                    ARPMessage(.request, senderLink: Self.other, sender: isProbe ? unspecified : first, target: first))
                #expect(host.done.last?.action == .conflicted(first, with: Self.other))
                #expect(host.claim.candidate != first)
                host.run(for: .seconds(10))
                #expect(host.assigned.count == 1 && host.assigned[0] != first)
            }
        }
    }

    @Test("C99: messages about other addresses, and the host's own messages, are not conflicts")
    func strangers() {
        var host = Host()
        host.link()
        let address = host.claim.candidate!
        let elsewhere = IPv4Address("169.254.9.9")!
        host.hear(ARPMessage(.request, senderLink: Self.other, sender: elsewhere, target: address))
        host.hear(ARPMessage(.reply, senderLink: Self.other, sender: elsewhere, target: elsewhere))
        host.hear(ARPMessage(.request, senderLink: Self.own, sender: IPv4Address(bits: 0), target: address))
        host.run(for: .seconds(10))
        #expect(host.assigned == [address])
    }

    @Test("C99: after ten conflicts one address per minute is tried, even if the link flaps")
    func rate() {
        var host = Host()
        host.link()
        for step in 0..<4_000 {
            host.run(for: .milliseconds(100))
            if let candidate = host.claim.candidate, host.packets.last?.packet.target == candidate {
                host.contradict(candidate)
            }
            if step % 50 == 49 {
                host.link(isUp: false)
                host.link()
            }
        }
        // The host tries ten addresses at once, and then one address per minute. The test runs for less than seven
        // minutes.
        let tried = Set(host.packets.map(\.packet.target))
        #expect((12...18).contains(tried.count) && host.assigned.isEmpty)
    }

    @Test("C99: after an address has been established, the rate limit is lifted")
    func forgiven() {
        var host = Host()
        host.link()
        for _ in 0..<10 {
            host.run(for: .seconds(1))
            host.contradict(host.claim.candidate!)
        }
        host.run(for: .seconds(180))
        #expect(host.assigned.count == 1)
        host.contradict(host.assigned[0])
        host.contradict(host.assigned[0])
        let given = host.now
        host.run(for: .seconds(8))
        #expect(host.assigned.count == 2 && host.done.last!.time - given < .seconds(8))
    }

    @Test("C100: two announcements 2 s apart, then silence")
    func announcing() {
        var host = Host()
        host.link()
        host.run(for: .seconds(4_000))
        let address = host.assigned[0]
        let announcements = host.packets.filter { $0.packet.sender.bits != 0 }
        #expect(announcements.count == 2)
        #expect(announcements[1].time - announcements[0].time == .seconds(2))
        for announcement in announcements {
            #expect(announcement.packet == ARPMessage(.request, senderLink: Self.own, sender: address, target: address))
        }
    }

    @Test(
        "C101: an address is defended once by broadcast; a second conflict within ten seconds ends it, a later one does not"
    )
    func defence() {
        for (pause, isGivenUp) in [(6, true), (11, false)] {
            var host = Host.settled()
            let address = host.claim.address!
            let before = host.packets.count
            host.contradict(address)
            #expect(host.packets.count == before + 1)
            #expect(
                host.packets.last?.packet
                    == ARPMessage(.request, senderLink: Self.own, sender: address, target: address)
            )
            host.run(for: .seconds(pause))
            host.contradict(address, .request)
            #expect((host.claim.address == nil) == isGivenUp)
            #expect(host.done.contains { $0.action == .release(address, .conflict(Self.other)) } == isGivenUp)
            host.run(for: .seconds(10))
            #expect(host.claim.address != nil && (host.claim.address != address) == isGivenUp)
        }
    }

    @Test("C101: a request for the address is answered by broadcast, at most once per second")
    func answers() {
        var host = Host.settled()
        let address = host.claim.address!
        let asker = IPv4Address("169.254.3.3")!
        let before = host.packets.count
        for _ in 0..<30 {
            host.hear(ARPMessage(.request, senderLink: Self.other, sender: asker, target: address))
            host.run(for: .milliseconds(100))
        }
        let answers = host.packets.dropFirst(before)
        #expect(answers.count == 3)
        #expect(
            answers.allSatisfy {
                $0.packet
                    == ARPMessage(
                        .reply, senderLink: Self.own, sender: address, targetLink: Self.other, target: asker)
            })
        #expect(answers.first?.packet.broadcastFrame.prefix(6).elementsEqual([255, 255, 255, 255, 255, 255]) == true)
    }

    @Test(
        "C102: with a routable address none is claimed, and an existing one is not offered to new connections"
    )
    func routable() {
        var host = Host()
        host.link(hasRoutable: true)
        host.run(for: .seconds(30))
        #expect(host.done.isEmpty)
        host.link()
        host.run(for: .seconds(2))
        host.link(hasRoutable: true)
        host.run(for: .seconds(30))
        #expect(host.assigned.isEmpty && host.claim.deadline == nil)
        host = .settled()
        let address = host.claim.address!
        host.link(hasRoutable: true)
        host.link(hasRoutable: true)
        #expect(host.done.suffix(1).map(\.action) == [.prefer(address, false)])
        host.link()
        #expect(host.done.suffix(2).map(\.action) == [.prefer(address, false), .prefer(address, true)])
    }

    @Test("C103: a link that returns is probed again, with the same address first; until then there is none")
    func linkUp() {
        var host = Host.settled()
        let address = host.claim.address!
        host.link(isUp: false)
        #expect(host.done.last?.action == .release(address, .linkWentDown) && host.claim.address == nil)
        host.run(for: .seconds(30))
        let before = host.packets.count
        host.link()
        #expect(host.claim.candidate == address)
        host.run(for: .seconds(10))
        #expect(
            host.packets.dropFirst(before).prefix(3).allSatisfy {
                $0.packet.sender.bits == 0 && $0.packet.target == address
            })
        #expect(host.assigned == [address, address])
        host.link(isUp: false)
        host.link()
        host.run(for: .seconds(1))
        host.contradict(address)
        host.run(for: .seconds(10))
        #expect(host.assigned.count == 3 && host.assigned[2] != address)
    }

    @Test("The end is reported once, the address is released, and nothing follows")
    func end() {
        var host = Host.settled()
        let address = host.claim.address!
        host.note(host.claim.end())
        #expect(host.done.last?.action == .release(address, .ended))
        let count = host.done.count
        host.note(host.claim.end())
        host.link(isUp: false)
        host.link()
        host.contradict(address)
        host.run(for: .seconds(100))
        #expect(host.done.count == count)
    }

    @Test(
        "Under any order of events there is one address at a time, always after three probes since the link came up",
        arguments: 0..<10)
    func anything(_ seed: UInt64) {
        var chance = Chance(state: seed)
        var host = Host(seed: seed)
        for _ in 0..<400 {
            switch Int.random(in: 0..<8, using: &chance) {
            case 0:
                host.link(isUp: Bool.random(using: &chance), hasRoutable: Int.random(in: 0..<4, using: &chance) == 0)
            case 1: if let address = host.claim.address ?? host.claim.candidate { host.contradict(address) }
            case 2: host.note(host.claim.advance(to: host.now))
            default: host.run(for: .milliseconds(Int.random(in: 0..<4_000, using: &chance)))
            }
        }
        var held: IPv4Address?
        var probes = 0
        for (_, action) in host.done {
            switch action {
            case .send(let packet): probes = packet.sender.bits == 0 ? probes + 1 : probes
            case .assign(let address):
                #expect(held == nil && probes >= 3)
                (held, probes) = (address, 0)
            case .release(let address, _):
                #expect(held == address)
                held = nil
            case .prefer(let address, _): #expect(held == address)
            case .conflicted: probes = 0
            }
        }
        #expect(held == host.claim.address)
    }
}
