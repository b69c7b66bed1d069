import CausewayWire
import Testing

@Suite("HPACK: blocks of other encoders")
struct HPACKStoryTests {
    struct Story: Decodable {
        struct Case: Decodable {
            var wire: String
            var header_table_size: Int?
            var headers: [[String: String]]

            var fields: FieldSection {
                var fields = FieldSection()
                for header in headers { for (name, value) in header { fields.append(name, value) } }
                return fields
            }
        }

        var cases: [Case]
    }

    static let files = HTTPVectors.files("hpack")

    // HPACK decoding: RFC 7541 §2.1, §2.2, §3.1.
    @Test("Each block decodes to its fields", arguments: files)
    func decodes(_ file: String) throws {
        let story = try HTTPVectors.decode(Story.self, file)
        var decoder = HPACKDecoder()
        #expect(!story.cases.isEmpty)
        for (index, block) in story.cases.enumerated() {
            if let size = block.header_table_size { decoder.setMaximumTableSize(size) }
            let decoded = try decoder.decode(bytes(hex: block.wire).span)
            #expect(decoded.all == block.fields && !decoded.exceedsLimit, "block \(index)")
        }
    }

    @Test("The fields of each block are encoded and decoded to equal fields", arguments: files)
    func encodes(_ file: String) throws {
        let story = try HTTPVectors.decode(Story.self, file)
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        for (index, block) in story.cases.enumerated() {
            if let size = block.header_table_size {
                encoder.setMaximumTableSize(size)
                decoder.setMaximumTableSize(size)
            }
            var encoded: [UInt8] = []
            encoder.beginBlock(&encoded)
            encoder.append(block.fields, to: &encoded)
            let decoded = try decoder.decode(encoded.span)
            #expect(decoded.all == block.fields, "block \(index)")
            #expect(encoder.tableSize == decoder.tableSize && encoder.tableCount == decoder.tableCount)
        }
    }
}

extension HPACKFieldBlock {
    /// All fields of the block in order.
    var all: FieldSection {
        var all = controlData
        all.append(contentsOf: fields)
        return all
    }
}
