import CausewayWire

/// A signal as GLib's GDBus encodes it in both byte orders, and its content.
enum DBusVectors {
    static let little = bytes(
        """
        6c040101d80000004d0000007000000007017300040000003a312e350000000001016f00060000002f612f625f310000020173000d0000
        006f72672e6578616d706c652e49000000080167001d73617b73767d6173796e716975787464626f676179287361692961617800000000
        000003017300070000004368616e676564000300000068c3a9004a00000000000000070000004d65746572656400017500000100000000
        000000040000004465657000026176000000001e000000017300000100000078000428796f29000000000003000000010000002f000000
        00000000c800feffffff0000fdffffff00286beefbffffffffffffffffffffffffffffff000000000000f83f01000000060000002f6f72
        672f780005617b73767d0000000300000001020300010000007a0000000800000001000000ffffffff1800000000000000000000000800
        0000000000000700000000000000
        """)

    static let big = bytes(
        """
        42040101000000d80000004d0000007007017300000000043a312e350000000001016f00000000062f612f625f31000002017300000000
        0d6f72672e6578616d706c652e49000000080167001d73617b73767d6173796e716975787464626f676179287361692961617800000000
        000003017300000000074368616e676564000000000368c3a9000000004a00000000000000074d65746572656400017500000000000100
        000000000000044465657000026176000000000000001e017300000000000178000428796f29000000000003000000000000012f000000
        00000000c800fffeffff0000fffffffdee6b2800fffffffffffffffbffffffffffffffff3ff800000000000000000001000000062f6f72
        672f780005617b73767d0000000000000301020300000000017a0000000000000800000001ffffffff0000001800000000000000000000
        0008000000000000000000000007
        """)

    /// The bytes of a D-Bus call (`Hello`) as the library GDBus encodes it.
    static let hello = bytes(
        """
        6c01000100000000010000006e00000001016f00150000002f6f72672f667265656465736b746f702f4442757300000002017300140000
        006f72672e667265656465736b746f702e444275730000000006017300140000006f72672e667265656465736b746f702e444275730000
        0000030173000500000048656c6c6f000000
        """)

    static var message: DBusMessage {
        var message = DBusMessage(.signal, serial: 77)
        message.flags = 1
        (message.path, message.interface, message.member) = ("/a/b_1", "org.example.I", "Changed")
        message.sender = ":1.5"
        let metered = DBusValue.entry(key: .string("Metered"), value: .variant(.uint32(1)))
        let inner: [DBusValue] = [.variant(.string("x")), .variant(.structure([.byte(3), .objectPath("/")]))]
        let deep = DBusValue.entry(key: .string("Deep"), value: .variant(.array(.variant, inner)))
        message.body = [
            .string("hé"), .array(.entry(key: .string, value: .variant), [metered, deep]), .array(.string, []),
            .byte(200), .int16(-2), .uint16(65_535), .int32(-3), .uint32(4_000_000_000), .int64(-5), .uint64(.max),
            .double(bits: (1.5).bitPattern), .boolean(true), .objectPath("/org/x"), .signature(Array("a{sv}".utf8)),
            .bytes([1, 2, 3]),
            .structure([.string("z"), .array(.int32, [.int32(1), .int32(-1)])]),
            .array(.array(.int64), [.array(.int64, []), .array(.int64, [.int64(7)])]),
        ]
        return message
    }

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map { UInt8($0) } }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
