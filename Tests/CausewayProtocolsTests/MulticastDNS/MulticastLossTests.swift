import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: links that lose")
struct MulticastLossTests {
    @Test(
        "Of what is lost enough is said again that everything is found, and packets are few whatever is lost",
        arguments: [20, 50, 80], 0..<5)
    func loss(_ percent: Int, _ seed: UInt64) {
        var chance = Chance(state: seed &* 1_000 &+ UInt64(percent))
        let lost = Set((0..<40_000).filter { _ in Int.random(in: 0..<100, using: &chance) < percent })
        let wire = VirtualLink(3)
        wire.delivers = { number, host in !lost.contains((number * 7 + host) % 40_000) }
        wire.hosts[2].link.ask(DNSQuestion(Printer.type, .ptr), QuestionID(rawValue: 9), at: wire.now)
        for host in 0..<2 {
            wire.hosts[host].link.register(
                Printer.records("Printer \(host)", host: "h\(host)"), RegistrationID(rawValue: 1), at: wire.now)
        }
        wire.run(for: .seconds(600))
        // Where four of five are lost, one exchange in 25 succeeds, and questions become seldom by law.
        #expect(wire.known(9, to: 2).count == 2 || percent == 80)
        #expect(wire.packets.count <= 60)
    }
}
