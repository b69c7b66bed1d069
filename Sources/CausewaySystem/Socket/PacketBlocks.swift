internal import CCausewayLinux

/// A pool of memory blocks for received packets.
///
/// Reuse avoids page faults, which cost about a microsecond for each page of a new block.
enum PacketBlocks {
    /// The maximum number of unused blocks that the pool keeps. This is enough for one ``PacketReader``, and for the
    /// packets of one connection whose program receives slowly. Together, these blocks have 5.3 MiB.
    private static let limit = 64
    /// Consecutive packets from one receive call start at different offsets in their blocks. This is the difference
    /// between two such offsets, in bytes.
    ///
    /// If all packets started at the beginning of their 64 KiB blocks, they would compete for the same few cache lines.
    private static let stagger = 1_344
    private static let byteCount = PacketReader.blockByteCount + PacketReader.packetLimit * stagger

    private struct Spare: Sendable {
        var addresses: [UInt] = []
    }
    private static let spare = LockedValue(Spare())

    /// Returns the offset at which the packet with this index begins in its block.
    static func offset(of index: Int) -> Int { index * stagger }

    /// Returns a block with room for a packet of the maximum size at every ``offset(of:)``; `nil` if allocation fails.
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
