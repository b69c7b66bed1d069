import CausewayWire
import Testing

/// Tests FNV-1a with the test vectors of RFC 9923.
@Suite("FNV-1a")
struct FNV1aTests {
    @Test(
        "Hash values, which files on disk contain, never change",
        arguments: [
            ("", 0x811C_9DC5, 0xCBF2_9CE4_8422_2325), ("a", 0xE40C_292C, 0xAF63_DC4C_8601_EC8C),
            ("foobar", 0xBF9C_F968, 0x8594_4171_F739_67E8),
        ] as [(String, UInt32, UInt64)])
    func vectors(_ text: String, _ short: UInt32, _ long: UInt64) {
        #expect(FNV1a.hash32(text.utf8) == short)
        #expect(FNV1a.hash64(text.utf8) == long)
    }
}
