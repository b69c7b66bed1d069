internal import CCausewayLinux

/// Blocks for received packets that are used again: each page of a fresh one costs a page fault, about a microsecond.
enum PacketBlocks {
    /// Blocks kept at most, 2.7 MiB.
    private static let limit = 32
    /// Packets of one call begin at different distances from the beginnings of their blocks. Otherwise all would lie in the same few lines
    /// of the processor's cache.
    private static let stagger = 1_344
    private static let byteCount = PacketReader.blockByteCount + PacketReader.packetLimit * stagger

    private struct Spare: Sendable {
        var addresses: [UInt] = []
    }
    private static let spare = LockedValue(Spare())

    /// How far into its block the packet of an index begins.
    static func offset(of index: Int) -> Int { index * stagger }

    /// A block for a packet of any index; `nil` where there is no memory.
    static func take() -> UnsafeMutableRawPointer? {
        let address = spare.withLock { spare in spare.addresses.popLast() }
        return address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) } ?? malloc(byteCount)
    }

    static func giveBack(_ block: UnsafeMutableRawPointer) {
        let isKept = spare.withLock { spare in
            guard spare.addresses.count < limit else { return false }
            spare.addresses.append(UInt(bitPattern: block))
            return true
        }
        if !isKept { free(block) }
    }
}
