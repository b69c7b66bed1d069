/// SHA-256 with incremental input (FIPS 180-4 §6.2).
///
/// This implementation is for programs without OpenSSL, which is optional at run time. If OpenSSL is installed, files
/// are hashed with OpenSSL instead.
///
/// The package swift-crypto is not used, because it compiles BoringSSL: a debug build of a small client would take 68 s
/// instead of 42 s.
package struct SHA256: Sendable {
    /// Digest size in bytes.
    package static let byteCount = 32
    private static let blockSize = 64

    /// For the first 64 primes: the cube root's first 32 fractional bits (FIPS 180-4 §4.2.2).
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    /// The state at the start: for each of the first 8 primes, the first 32 fractional bits of its square root (FIPS
    /// 180-4 §5.3.3).
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var pending: [UInt8] = []
    private var byteCount: UInt64 = 0

    package init() {
        pending.reserveCapacity(Self.blockSize)
    }

    package mutating func update(_ bytes: RawSpan) {
        byteCount &+= UInt64(bytes.byteCount)
        var position = 0
        if !pending.isEmpty {
            position = min(Self.blockSize - pending.count, bytes.byteCount)
            append(bytes.extracting(first: position))
            guard pending.count == Self.blockSize else { return }
            let block = pending
            unsafe compress(block.span.bytes)
            pending.removeAll(keepingCapacity: true)
        }
        let end = position + (bytes.byteCount - position) / Self.blockSize * Self.blockSize
        if end > position { compress(bytes.extracting(position..<end)) }
        append(bytes.extracting(end..<bytes.byteCount))
    }

    private mutating func append(_ bytes: RawSpan) {
        for index in 0..<bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            pending.append(byte)
        }
    }

    /// Ends the input and returns its digest.
    package mutating func finish() -> [UInt8] {
        let bitCount = byteCount &* 8
        let used = pending.count + 1
        let padding = (used <= 56 ? 56 : 120) - used
        var tail: [UInt8] = [0x80] + [UInt8](repeating: 0, count: padding)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            tail.append(UInt8(truncatingIfNeeded: bitCount &>> shift))
        }
        unsafe update(tail.span.bytes)
        return state.flatMap { word -> [UInt8] in
            [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: word &>> shift) }
        }
    }

    /// Updates the state with whole blocks (FIPS 180-4 §6.2.2).
    private mutating func compress(_ blocks: RawSpan) {
        var schedule = InlineArray<64, UInt32>(repeating: 0)
        for start in stride(from: 0, to: blocks.byteCount, by: Self.blockSize) {
            Self.expand(blocks.extracting(start..<start + Self.blockSize), into: &schedule)
            Self.mix(schedule.span, Self.constants.span, into: &state)
        }
    }

    private static func expand(_ block: RawSpan, into schedule: inout InlineArray<64, UInt32>) {
        for i in 0..<16 {
            // The indices are in bounds, because the block has 64 bytes.
            let word = unsafe block.unsafeLoadUnaligned(fromByteOffset: i &* 4, as: UInt32.self)
            schedule[i] = UInt32(bigEndian: word)
        }
        for i in 16..<64 {
            let (a, b) = unsafe (schedule[unchecked: i &- 15], schedule[unchecked: i &- 2])
            let sigma0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)
            let sigma1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10)
            let sum = unsafe schedule[unchecked: i &- 16] &+ schedule[unchecked: i &- 7]
            unsafe schedule[unchecked: i] = sum &+ sigma0 &+ sigma1
        }
    }

    private static func mix(
        _ schedule: Span<UInt32>, _ constants: Span<UInt32>, into state: inout [UInt32]
    ) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        // The indices are in bounds, because both arrays have 64 words.
        func word(_ i: Int) -> UInt32 { unsafe constants[unchecked: i] &+ schedule[unchecked: i] }
        // The rounds rotate the roles of the eight variables. After eight rounds, each word is back in its original
        // variable. So unroll eight rounds, which avoids moving words.
        for i in stride(from: 0, to: 64, by: 8) {
            round(a, b, c, &d, e, f, g, &h, word(i))
            round(h, a, b, &c, d, e, f, &g, word(i &+ 1))
            round(g, h, a, &b, c, d, e, &f, word(i &+ 2))
            round(f, g, h, &a, b, c, d, &e, word(i &+ 3))
            round(e, f, g, &h, a, b, c, &d, word(i &+ 4))
            round(d, e, f, &g, h, a, b, &c, word(i &+ 5))
            round(c, d, e, &f, g, h, a, &b, word(i &+ 6))
            round(b, c, d, &e, f, g, h, &a, word(i &+ 7))
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
        state[5] &+= f
        state[6] &+= g
        state[7] &+= h
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
        _ h: inout UInt32, _ word: UInt32
    ) {
        let sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
        let first = h &+ sum1 &+ (g ^ (e & (f ^ g))) &+ word
        let sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
        d = d &+ first
        h = first &+ sum0 &+ ((a & b) | (c & (a | b)))
    }

    @inline(__always)
    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        (word &>> count) | (word &<< (32 &- count))
    }
}
