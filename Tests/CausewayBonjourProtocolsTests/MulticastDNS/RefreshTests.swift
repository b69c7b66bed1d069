import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: refresh of records before they expire (RFC 6762 §5.2)")
struct RefreshTests {
    @Test(
        "C13: with short TTLs and late timers too, the queries come at 80, 85, 90 and 95 per cent",
        arguments: [UInt32(20), 120], [Duration.zero, .milliseconds(40)])
    func moments(_ time: UInt32, _ lateness: Duration) {
        let name: DNSName = "beta.local"
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(DNSQuestion(name, .a), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .seconds(1))
        var answer = DNSMessage()
        answer.flags = [.isResponse, .isAuthoritative]
        answer.answers = Printer.address("beta", "10.0.0.5")
        answer.answers[0].timeToLive = time
        wire.inject(answer)
        let start = wire.now
        let before = wire.packets.count
        // Let every second timer fire late.
        var isLate = true
        while let next = wire.hosts[0].link.deadline, next - start < .seconds(Int64(time)) {
            wire.run(for: .zero)
            wire.skip(to: next + (isLate ? lateness : .zero))
            isLate.toggle()
        }
        let moments = wire.packets[before...].map { ($0.time - start) / .seconds(Int64(time)) }
        #expect(moments.count == 4)
        for (moment, share) in zip(moments, [0.80, 0.85, 0.90, 0.95]) {
            #expect(moment >= share && moment < share + 0.025, "\(moments)")
        }
    }

    @Test("C10: a question for all types is sent although the record of one type is in the cache")
    func allTypes() {
        let wire = VirtualLink(1)
        wire.hosts[0].link.ask(DNSQuestion(Printer.instance, .srv), QuestionID(rawValue: 1), at: wire.now)
        wire.run(for: .milliseconds(500))
        var answer = DNSMessage()
        answer.flags = [.isResponse, .isAuthoritative]
        answer.answers = [Printer.records()[1]]
        wire.inject(answer)
        wire.run(for: .seconds(10))
        let before = wire.packets.count
        wire.hosts[0].link.ask(DNSQuestion(Printer.instance, .any), QuestionID(rawValue: 2), at: wire.now)
        wire.run(for: .seconds(5))
        #expect(wire.known(2, to: 0) == [Printer.records()[1]])
        #expect(wire.packets[before...].flatMap(\.message.questions).map(\.type) == [.any, .any, .any])
        answer.answers = [Printer.records()[2]]
        wire.inject(answer)
        #expect(wire.known(2, to: 0) == Set(Printer.records()[1...2]))
    }
}
