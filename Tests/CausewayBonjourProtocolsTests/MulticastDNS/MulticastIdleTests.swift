import CausewayBonjourProtocols
import CausewayWire
import Testing

@Suite("Multicast DNS: silence")
struct MulticastIdleTests {
    @Test(
        "Ten services and ten searches on a quiet link: timers are set only for the queries that RFC 6762 requires"
    )
    func quiet() {
        let wire = VirtualLink(1)
        for number in 0..<10 {
            let id = UInt64(number + 1)
            wire.hosts[0].link.register(Printer.records("s\(number)"), RegistrationID(rawValue: id), at: wire.now)
            let question = DNSQuestion(DNSName("_search\(number)", in: "_tcp.local")!, .ptr)
            wire.hosts[0].link.ask(question, QuestionID(rawValue: id), at: wire.now)
        }
        wire.run(for: .seconds(600))
        // After each query, the interval doubles, up to one hour. The first series of queries began 0.1 s after the
        // start. Its queries at 1,023 s and 2,047 s are in the measured period.
        let before = wire.packets.count
        var wakes = 0
        let end = wire.now + .seconds(3_000)
        while let next = wire.hosts[0].link.deadline, next <= end {
            wakes += 1
            wire.run(for: next - wire.now)
        }
        #expect(wakes <= 2 && wire.packets.count - before == wakes)
    }

    @Test("A found record is queried again at 80 per cent of its TTL, without a wake-up before")
    func waiting() {
        let wire = VirtualLink(2)
        wire.hosts[0].link.register(Printer.records(), Printer.id, at: wire.now)
        wire.run(for: .seconds(30))
        wire.hosts[1].link.ask(DNSQuestion(Printer.instance, .txt), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(10))
        let next = wire.hosts[1].link.deadline ?? .zero
        // The record has a TTL of 75 minutes, and it arrived within the first ten seconds. So the first refresh is due
        // only after 80 % of the TTL.
        #expect(next >= .seconds(30) + .seconds(4_500) * 0.8 - .seconds(30))
    }
}
