import CausewayTypes
import Testing

@testable import CausewayPackets

@Suite("Usual packets")
struct UsualLayersTests {
    private static func packet(_ isIPv6: Bool, _ isTagged: Bool, _ proto: UInt8, _ payload: Int) -> [UInt8] {
        var packet = PacketBuilder()
        let mac = MACAddress(bits: 0x0200_0000_0001)
        let type: EtherType = isIPv6 ? .ipv6 : .ipv4
        packet.add(EthernetHeader(destination: .broadcast, source: mac, type: isTagged ? .vlan : type))
        if isTagged { packet.add(VLANTag(identifier: 5, type: type)) }
        let number = IPProtocolNumber(rawValue: proto)
        if isIPv6 {
            packet.add(
                IPv6Header(
                    source: IPv6Address(high: 1, low: 2), destination: IPv6Address(high: 3, low: 4), nextHeader: number)
            )
        } else {
            packet.add(IPv4Header(source: IPv4Address(bits: 1), destination: IPv4Address(bits: 2), proto: number))
        }
        switch proto {
        case 6: packet.add(TCPHeader(sourcePort: 1, destinationPort: 2, flags: .ack))
        case 17: packet.add(UDPHeader(sourcePort: 1, destinationPort: 5000))
        default: packet.add(.echo(type: 8, identifier: 1, sequence: 2), version6: isIPv6)
        }
        packet.add(payload: [UInt8](repeating: 9, count: payload))
        return packet.finish()
    }

    private static func same(_ bytes: [UInt8], _ wireCount: Int) -> Bool {
        let fast = PacketLayers(ByteView(bytes.span), linkType: .ethernet, originalCount: wireCount)
        var slow = PacketLayers()
        slow.walk(ByteView(bytes.span), .ethernet, wireCount)
        guard fast.count == slow.count, fast.issues == slow.issues, fast.payload == slow.payload,
            fast.payloadOriginalCount == slow.payloadOriginalCount
        else { return false }
        func text(_ layer: PacketLayers.Layer?) -> String { layer.map { "\($0)" } ?? "none" }
        return text(fast.innermostNetwork) == text(slow.innermostNetwork)
            && text(fast.innermostTransport) == text(slow.innermostTransport)
            && (0..<fast.count).allSatisfy { text(fast[$0]) == text(slow[$0]) }
    }

    @Test(
        "The fast path and the layer walk find equal layers, also in damaged packets", arguments: [false, true],
        [false, true])
    func alike(isIPv6: Bool, isTagged: Bool) {
        var state: UInt64 = 88_172_645_463_325_252
        func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        for proto: UInt8 in [6, 17, 1, 58, 132] {
            for payload in [0, 6, 18, 300] {
                let whole = Self.packet(isIPv6, isTagged, proto, payload)
                #expect(Self.same(whole, whole.count))
                var different = 0
                for _ in 0..<2000 {
                    var bytes = whole
                    for _ in 0...next(2) { bytes[next(min(70, bytes.count))] = UInt8(next(256)) }
                    if next(3) == 0 { bytes.removeLast(next(bytes.count)) }
                    if next(5) == 0 { bytes += [UInt8](repeating: 0, count: next(20)) }
                    if !Self.same(bytes, bytes.count + (next(4) == 0 ? next(100) : 0)) { different += 1 }
                }
                #expect(different == 0, "protocol \(proto), \(payload) bytes: \(different) differ")
            }
        }
    }
}
