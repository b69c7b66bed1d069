import CausewayTypes
import CausewayWire
import Testing

@Suite("ARP packets (RFC 826)")
struct ARPMessageTests {
    private static let packet = ARPMessage(
        .reply, senderLink: LinkAddress(bits: 0x0200_0000_00AB), sender: IPv4Address("169.254.1.2")!,
        targetLink: LinkAddress(bits: 0x0200_0000_0001), target: IPv4Address("169.254.3.4")!)

    @Test("A frame has the expected bytes, is broadcast, and is read back")
    func frame() throws {
        let bytes = Self.packet.broadcastFrame
        #expect(
            bytes == [
                255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 0xAB, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 0xAB,
                169, 254, 1, 2, 2, 0, 0, 0, 0, 1, 169, 254, 3, 4,
            ])
        #expect(try ARPMessage(parsingFrame: bytes.span) == Self.packet)
        let padded = bytes + [UInt8](repeating: 7, count: 18)
        #expect(try ARPMessage(parsingFrame: padded.span) == Self.packet)
        #expect(Self.packet.senderLink.description == "02:00:00:00:00:ab")
    }

    @Test("Truncated messages, and other types and operations, are refused")
    func refused() {
        let bytes = Self.packet.broadcastFrame
        for count in 0..<bytes.count {
            let part = Array(bytes[..<count])
            #expect(throws: WireError.self) { _ = try ARPMessage(parsingFrame: part.span) }
        }
        for (place, value) in [(12, 9), (13, 0), (14, 1), (15, 6), (17, 1), (18, 8), (19, 16), (21, 3)] {
            var changed = bytes
            changed[place] = UInt8(value)
            #expect(throws: WireError.self) { _ = try ARPMessage(parsingFrame: changed.span) }
        }
    }

    @Test("Setting an address: the bytes of the kernel's request (rtnetlink(7))")
    func request() {
        let address = IPv4Address("169.254.1.2")!
        let put = NetlinkRequest.putLinkLocal(address, on: 3, isPreferred: false).encoded(sequence: 9)
        // The message type is RTM_NEWADDR. The flags are request, acknowledge, replace and create.
        #expect(put.count == 16 + 8 + 8 * 3 + 20 && put[0] == UInt8(put.count) && put[4] == 20)
        #expect(UInt16(put[6]) | UInt16(put[7]) << 8 == 0x505)
        #expect(put[16..<24].elementsEqual([2, 16, 0, 253, 3, 0, 0, 0]))
        #expect(put[24..<32].elementsEqual([8, 0, 2, 0, 169, 254, 1, 2]))
        #expect(put[52..<56].elementsEqual([0, 0, 0, 0]) && put[56..<60].elementsEqual([255, 255, 255, 255]))
        let taken = NetlinkRequest.takeLinkLocal(address, from: 3).encoded(sequence: 9)
        #expect(taken[4] == 21 && UInt16(taken[6]) | UInt16(taken[7]) << 8 == 0x005)
    }
}
