/// Builds netlink messages for tests of the decoder, in this machine's byte order.
enum NetlinkBytes {
    static func host<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    /// Returns a complete netlink message. Padding makes its length a multiple of 4 bytes.
    static func message(type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, _ body: [UInt8] = []) -> [UInt8] {
        padded(host(UInt32(16 + body.count)) + host(type) + host(flags) + host(sequence) + host(UInt32(0)) + body)
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        padded(host(UInt16(4 + value.count)) + host(type) + value)
    }

    static func link(
        family: UInt8 = 0, hardwareType: UInt16 = 1, index: Int32, flags: UInt32 = 0, _ attributes: [UInt8]...
    ) -> [UInt8] {
        [family, 0] + host(hardwareType) + host(index) + host(flags) + host(UInt32.max) + attributes.flatMap { $0 }
    }

    static func address(
        family: UInt8, prefix: UInt8, flags: UInt8 = 0, scope: UInt8 = 0, index: UInt32, _ attributes: [UInt8]...
    ) -> [UInt8] {
        [family, prefix, flags, scope] + host(index) + attributes.flatMap { $0 }
    }

    static func route(
        family: UInt8, prefix: UInt8 = 0, table: UInt8 = 254, origin: UInt8 = 3, scope: UInt8 = 0, kind: UInt8 = 1,
        flags: UInt32 = 0, _ attributes: [UInt8]...
    ) -> [UInt8] {
        [family, prefix, 0, 0, table, origin, scope, kind] + host(flags) + attributes.flatMap { $0 }
    }

    static func nextHop(flags: UInt8 = 0, extraWeight: UInt8 = 0, index: Int32, _ attributes: [UInt8]...) -> [UInt8] {
        let all = attributes.flatMap { $0 }
        return padded(host(UInt16(8 + all.count)) + [flags, extraWeight] + host(index) + all)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}

/// A random number generator with a seed, so that a failure can be reproduced.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
