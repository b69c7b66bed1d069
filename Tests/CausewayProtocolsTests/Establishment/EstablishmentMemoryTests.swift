import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Memory of earlier connections")
struct EstablishmentMemoryTests {
    private static func address(_ number: Int) -> InternetAddress {
        .ipv4(IPv4Address(bits: 0xC000_0200 + UInt32(number)))
    }

    private static func connect(_ memory: inout EstablishmentMemory, _ number: Int, at now: Duration) {
        memory.connected(to: address(number), of: "host\(number)", roundTrip: .milliseconds(number), at: now)
    }

    private static func worked(_ memory: EstablishmentMemory, _ number: Int, at now: Duration) -> Bool {
        memory.experience(with: address(number), of: "host\(number)", at: now).hasWorked
    }

    @Test("A full memory removes expired entries first, and keeps the others")
    func removesExpired() {
        var memory = EstablishmentMemory(limit: 16)
        Self.connect(&memory, 0, at: .zero)
        let now = EstablishmentMemory.lifetime + .seconds(1)
        for number in 1...16 { Self.connect(&memory, number, at: now) }
        #expect(!Self.worked(memory, 0, at: now))
        for number in 1...16 { #expect(Self.worked(memory, number, at: now)) }
    }

    @Test("A memory full of recent entries removes the oldest")
    func removesOldest() {
        var memory = EstablishmentMemory(limit: 16)
        for number in 0..<17 { Self.connect(&memory, number, at: .seconds(number)) }
        #expect(!Self.worked(memory, 0, at: .seconds(17)))
        for number in 4..<17 { #expect(Self.worked(memory, number, at: .seconds(17))) }
    }

    @Test("Privacy contexts share no results, and each is flushed alone")
    func partitions() {
        var memory = EstablishmentMemory()
        memory.connected(to: Self.address(1), of: "h", in: 7, roundTrip: .milliseconds(5), at: .zero)
        memory.failed(Self.address(2), in: 7, at: .zero)
        memory.connected(to: Self.address(1), of: "h", roundTrip: .milliseconds(9), at: .zero)
        func history(_ number: Int, in partition: UInt64) -> AddressRace.History {
            memory.experience(with: Self.address(number), of: "h", in: partition, at: .zero)
        }
        #expect(history(1, in: 7).hasWorked && history(1, in: 7).roundTrip == .milliseconds(5))
        #expect(history(2, in: 7).hasFailed && !history(2, in: 0).hasFailed)
        #expect(history(1, in: 0).roundTrip == .milliseconds(9) && !history(1, in: 8).hasWorked)
        memory.remove(partition: 7)
        #expect(!history(1, in: 7).hasWorked && !history(2, in: 7).hasFailed && history(1, in: 0).hasWorked)
    }
}
