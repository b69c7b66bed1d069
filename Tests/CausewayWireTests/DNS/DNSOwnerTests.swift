import CausewayWire
import Testing

@Suite("DNS: owner and lease options")
struct DNSOwnerTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let owner: DNSOwner
        let value: [UInt8]
        var testDescription: String { name }
    }

    private static let primary = LinkAddress(bits: 0x0200_0000_0001)
    private static let wakeup = LinkAddress(bits: 0x02AA_BBCC_DDEE)
    private static let head: [UInt8] = [0, 7, 2, 0, 0, 0, 0, 1]
    private static let other: [UInt8] = [2, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE]

    static let vectors = [
        Vector(name: "one address", owner: DNSOwner(sequence: 7, primary: primary), value: head),
        Vector(name: "two", owner: DNSOwner(sequence: 7, primary: primary, wakeup: wakeup), value: head + other),
        Vector(
            name: "four bytes of password",
            owner: DNSOwner(sequence: 7, primary: primary, wakeup: wakeup, password: [1, 2, 3, 4]),
            value: head + other + [1, 2, 3, 4]),
        Vector(
            name: "six bytes, with one address",
            owner: DNSOwner(sequence: 7, primary: primary, password: [1, 2, 3, 4, 5, 6]),
            value: head + head[2...] + [1, 2, 3, 4, 5, 6]),
    ]

    @Test("C108: the owner option, byte by byte", arguments: vectors)
    func option(_ vector: Vector) {
        #expect(vector.owner.option == DNSExtensions.Option(code: 4, value: vector.value))
        #expect(DNSOwner(vector.owner.option) == vector.owner)
    }

    @Test("An invalid owner option is refused", arguments: 0...24)
    func broken(_ count: Int) {
        let value = [UInt8](repeating: 0, count: count)
        #expect((DNSOwner(DNSExtensions.Option(code: 4, value: value)) != nil) == [8, 14, 18, 20].contains(count))
        #expect(DNSOwner(DNSExtensions.Option(code: 2, value: value)) == nil)
        if count > 0 {
            #expect(DNSOwner(DNSExtensions.Option(code: 4, value: [1] + value.dropFirst())) == nil)
        }
        let lease = DNSLease.seconds(DNSExtensions.Option(code: 2, value: [0, 0, 28, 32] + value))
        #expect(lease == ([0, 4].contains(count) ? 7_200 : nil))
    }

    @Test("C109: the packet that wakes a host")
    func magic() {
        let owner = DNSOwner(sequence: 0, primary: Self.primary, wakeup: Self.wakeup, password: [9, 8, 7, 6])
        let packet = owner.magicPacket
        #expect(packet.count == 6 + 96 + 4)
        #expect(packet.prefix(6).allSatisfy { $0 == 0xFF } && packet.suffix(4).elementsEqual([9, 8, 7, 6]))
        #expect((0..<16).allSatisfy { packet[(6 + 6 * $0)..<(12 + 6 * $0)].elementsEqual(Self.other) })
        #expect(DNSLease.option(seconds: 7_200) == DNSExtensions.Option(code: 2, value: [0, 0, 28, 32]))
    }
}
