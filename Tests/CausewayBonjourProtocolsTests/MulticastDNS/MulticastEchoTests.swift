import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: copies of sent messages")
struct MulticastEchoTests {
    /// Starts a question, and returns the query message that it sends.
    private static func query(_ number: UInt64, of link: inout MulticastLink) -> [UInt8] {
        let (id, now) = (QuestionID(rawValue: number), Duration.seconds(Int64(number)))
        link.ask(DNSQuestion(DNSName("_t\(number)._tcp.local")!, .ptr), id, at: now)
        link.advance(to: now + .milliseconds(200))
        link.stop(id)
        return link.takeActions().compactMap { if case .send(let bytes) = $0 { bytes } else { nil } }.first ?? []
    }

    @Test("The number of expected copies stays limited when a link starts to hear itself")
    func limit() {
        var link = MulticastLink(random: Chance(state: 1))
        link.hearsItself = false
        let arrival = MulticastArrival(from: MulticastPeer(.ipv4(IPv4Address("10.0.0.1")!), port: MulticastDNS.port))
        let sent = (1...100).map { Self.query($0, of: &link) }
        link.hearsItself = true
        let last = Self.query(101, of: &link)
        for (bytes, isKnown) in [(last, true), (sent[99], true), (sent[37], true), (sent[36], false)] {
            _ = link.interest(in: bytes.span, arrival, isSelf: true, at: .seconds(102))
            // An unexpected copy comes from another process.
            #expect(link.hasSiblings != isKnown)
        }
    }
}
