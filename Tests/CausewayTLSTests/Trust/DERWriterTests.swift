import CausewayTLS
import Testing

@Suite("Times in DER")
struct DERWriterTests {
    @Test(
        "The format depends on the year",
        arguments: [
            (-62_167_219_200, 0x18, "00000101000000Z"), (-62_162_035_201, 0x18, "00000229235959Z"),
            (-631_152_001, 0x18, "19491231235959Z"), (-631_152_000, 0x17, "500101000000Z"),
            (-1, 0x17, "691231235959Z"), (0, 0x17, "700101000000Z"), (951_782_400, 0x17, "000229000000Z"),
            (2_524_607_999, 0x17, "491231235959Z"), (2_524_608_000, 0x18, "20500101000000Z"),
            (4_107_542_399, 0x18, "21000228235959Z"), (253_402_300_799, 0x18, "99991231235959Z"),
        ] as [(Int64, UInt8, String)])
    func times(_ seconds: Int64, _ tag: UInt8, _ text: String) {
        #expect(DERWriter.time(seconds) == DERWriter.value(tag, Array(text.utf8)))
    }

    @Test("Times without an encoding become the nearest one, at once")
    func extremes() {
        #expect(DERWriter.time(.min) == DERWriter.time(-62_167_219_200))
        #expect(DERWriter.time(-62_167_219_201) == DERWriter.time(-62_167_219_200))
        #expect(DERWriter.time(253_402_300_800) == DERWriter.time(253_402_300_799))
        #expect(DERWriter.time(.max) == DERWriter.time(253_402_300_799))
    }
}
