import FoundationEssentials

/// A fast 64-bit checksum that depends on every byte and on the sequence of the bytes.
///
/// The checksum detects accidental changes, not attacks. It does not depend on how the bytes are split into chunks.
/// Four accumulators are computed independently, so that the processor can work on them in parallel and only the memory
/// bandwidth limits the speed.
struct StreamChecksum: Sendable {
    private static let stripe = 32
    private static let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15
    private static let increment: UInt64 = 0xc2b2_ae3d_27d4_eb4f

    private var threads: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
    private var pending: [UInt8] = []
    private(set) var byteCount: UInt64 = 0

    mutating func update(_ data: Data) {
        data.withUnsafeBytes { update($0) }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        byteCount &+= UInt64(bytes.count)
        var rest = bytes[...]
        if !pending.isEmpty {
            let taken = rest.prefix(Self.stripe - pending.count)
            pending.append(contentsOf: taken)
            rest = rest.dropFirst(taken.count)
            guard pending.count == Self.stripe else { return }
            let block = pending
            block.withUnsafeBytes { absorb($0) }
            pending.removeAll(keepingCapacity: true)
        }
        let whole = rest.count / Self.stripe * Self.stripe
        if whole > 0 { absorb(UnsafeRawBufferPointer(rebasing: rest.prefix(whole))) }
        pending.append(contentsOf: rest.dropFirst(whole))
    }

    /// The checksum of all bytes added so far.
    var value: UInt64 {
        var copy = self
        copy.pending.append(contentsOf: repeatElement(0, count: Self.stripe - pending.count))
        let last = copy.pending
        last.withUnsafeBytes { copy.absorb($0) }
        let (a, b, c, d) = copy.threads
        var mixed = byteCount
        for thread in [a, b, c, d] {
            mixed = (mixed ^ (thread ^ (thread >> 29))) &* Self.multiplier
            mixed ^= mixed >> 32
        }
        return mixed
    }

    private mutating func absorb(_ stripes: UnsafeRawBufferPointer) {
        var (a, b, c, d) = threads
        var offset = 0
        while offset < stripes.count {
            a = Self.step(a, stripes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            b = Self.step(b, stripes.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self))
            c = Self.step(c, stripes.loadUnaligned(fromByteOffset: offset &+ 16, as: UInt64.self))
            d = Self.step(d, stripes.loadUnaligned(fromByteOffset: offset &+ 24, as: UInt64.self))
            offset &+= Self.stripe
        }
        threads = (a, b, c, d)
    }

    @inline(__always)
    private static func step(_ thread: UInt64, _ word: UInt64) -> UInt64 {
        let sum = thread &+ word &* increment
        return ((sum &<< 31) | (sum &>> 33)) &* multiplier
    }
}
