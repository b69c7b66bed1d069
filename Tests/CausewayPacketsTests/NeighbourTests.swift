import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayPackets

@Suite("Neighbours")
struct NeighbourTests {
    private static let mac = MACAddress("02:00:00:00:00:01")!
    private static let other = MACAddress("02:00:00:00:00:02")!
    private static let probes = NeighbourProbes(hardware: mac)

    private static func answer(_ frame: [UInt8]) -> InternetAddress? { probes.answer(ByteView(frame.span)) }

    @Test("An ARP request is broadcast, and only a reply to this host counts")
    func arp() throws {
        let wanted = IPv4Address("10.0.0.9")!
        let frame = try #require(Self.probes.request(.ipv4(wanted), from: .ipv4(IPv4Address("10.0.0.1")!)))
        let parsed = try ARPPacket(ByteView(frame.span), at: 14)
        let packet = try #require(parsed)
        let header = try EthernetHeader(ByteView(frame.span), at: 0)
        #expect(header.destination == .broadcast && packet.operation == .request)
        #expect(packet.targetAddress == wanted && packet.senderHardware == Self.mac)
        #expect(Self.answer(frame) == nil)
        for (operation, target, expected) in [
            (ARPPacket.Operation.reply, Self.mac, InternetAddress.ipv4(wanted)), (.request, Self.mac, nil),
            (.reply, Self.other, nil),
        ] {
            var answer = PacketBuilder()
            answer.add(EthernetHeader(destination: target, source: Self.other, type: .arp))
            answer.add(
                ARPPacket(
                    operation: operation, senderHardware: Self.other, senderAddress: wanted, targetHardware: target,
                    targetAddress: IPv4Address("10.0.0.1")!))
            #expect(Self.answer(answer.finish()) == expected)
        }
    }

    @Test("A solicitation is sent to the multicast group of its address, and an advertisement must come from the link")
    func solicitation() throws {
        let wanted = IPv6Address("fd00::12:3456")!
        let frame = try #require(Self.probes.request(.ipv6(wanted), from: .ipv6(IPv6Address("fd00::1")!)))
        let header = try EthernetHeader(ByteView(frame.span), at: 0)
        #expect(header.destination == MACAddress("33:33:ff:12:34:56"))
        let ip = try IPv6Header(ByteView(frame.span), at: 14)
        #expect(ip.destination == IPv6Address("ff02::1:ff12:3456") && ip.hopLimit == 255 && ip.payloadLength == 32)
        #expect(frame.count == 86 && frame[54] == 135 && Array(frame[78..<80]) == [1, 1])
        for (hops, type, expected) in [
            (UInt8(255), UInt8(136), InternetAddress.ipv6(wanted)), (64, 136, nil), (255, 135, nil),
        ] {
            var answer = frame
            (answer[21], answer[54]) = (hops, type)
            #expect(Self.answer(answer) == expected)
        }
        for count in 0..<frame.count {
            var answer = Array(frame.prefix(count))
            if count > 54 { answer[54] = 136 }
            let seen = Self.answer(answer)
            #expect(seen == nil || count >= 78)
        }
    }

    @Test("Silent hosts are abandoned soon after others have answered, and probed more often after a loss")
    func silentHosts() {
        var settings = PortSurvey.Settings(.echo)
        settings.isNear = true
        settings.attempts = 4
        for isLossy in [false, true] {
            var survey = PortSurvey(hosts: 3, ports: 1, settings: settings)
            var now = Duration.zero
            var asked = [0, 0, 0]
            survey: while true {
                switch survey.next(at: now) {
                case .send(let probe):
                    asked[probe.host] += 1
                    // The first host answers every probe immediately. The second host also answers, but with `isLossy`
                    // only the repeated probe.
                    if probe.host == 0 || (probe.host == 1 && isLossy && probe.attempt == 1) {
                        survey.answered(probe, .arpResponse, at: now + .milliseconds(1))
                    }
                case .wait(let until): now = max(until, now + .microseconds(1))
                case .finished: break survey
                }
            }
            #expect(asked == (isLossy ? [1, 2, 4] : [1, 2, 2]))
            #expect(now < (isLossy ? .milliseconds(1300) : .milliseconds(300)))
        }
    }
}
