import CausewayTypes
import CausewayWire
import Testing

@Suite("Netlink: entries of the neighbour table")
struct NetlinkNeighbourTests {
    private static func message(family: UInt8 = 2, index: Int32 = 3, state: UInt16) -> [UInt8] {
        let head = [family, 0, 0, 0] + NetlinkBytes.host(index) + NetlinkBytes.host(state) + [0, 1]
        return NetlinkBytes.message(type: 28, head + NetlinkBytes.attribute(1, [10, 0, 0, 7]))
    }

    @Test(
        "A neighbour is resolved unless the kernel waits for its reply or has given up",
        arguments: [
            (UInt16(0), false), (0x01, false), (0x02, true), (0x04, true), (0x08, true), (0x10, true), (0x20, false),
            (0x40, true), (0x80, true),
        ])
    func states(_ state: UInt16, _ isResolved: Bool) throws {
        let bytes = Self.message(state: state)
        var decoder = NetlinkDecoder(bytes.span)
        let neighbour = NetlinkNeighbour(interfaceIndex: 3, state: NetlinkNeighbour.State(rawValue: state))
        #expect(try decoder.next()?.message == .neighbour(neighbour))
        #expect(neighbour.isResolved == isResolved)
    }

    @Test("Entries of other families are not decoded, and a short message is malformed")
    func others() throws {
        let bridge = Self.message(family: 7, state: 2)
        var decoder = NetlinkDecoder(bridge.span)
        #expect(try decoder.next()?.message == .other(type: 28))
        let short = NetlinkBytes.message(type: 28, [2, 0, 0, 0, 3, 0, 0, 0])
        #expect(throws: WireError.self) {
            var decoder = NetlinkDecoder(short.span)
            _ = try decoder.next()
        }
    }

    @Test("The request has a header whose unused fields are zero, and the address")
    func request() {
        let bytes = NetlinkRequest.neighbour(.ipv4(IPv4Address("10.0.0.7")!), on: 3).encoded(sequence: 9)
        let body =
            [2, 0, 0, 0] + NetlinkBytes.host(Int32(3)) + [0, 0, 0, 0] + NetlinkBytes.attribute(1, [10, 0, 0, 7])
        #expect(Array(bytes.dropFirst(16)) == body)
        #expect(bytes[4] == 30 && bytes[6] == 1 && bytes[7] == 0)
    }
}
