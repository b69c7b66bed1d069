import CausewayTypes
import Foundation
import Testing

@Suite("Decoding TXT records")
struct TXTRecordDecoderTests {
    private struct Printer: Decodable, Equatable {
        enum Kind: String, Decodable { case laser, inkjet }
        enum CodingKeys: String, CodingKey {
            case name = "ty", count = "qtotal", kind, color = "Color", duplex, icon, ratio, missing
        }
        var name: String
        var count: UInt8
        var kind: Kind
        var color: Bool
        var duplex: Bool
        var icon: Data
        var ratio: Double?
        var missing: String?
    }

    private var record: NWTXTRecord {
        var record = NWTXTRecord(["ty": "Printer", "qtotal": "3", "kind": "laser", "color": "1", "ratio": "0.5"])
        record.setEntry(.none, for: "duplex")
        record.setEntry(.data(Data([0xff, 0xfe])), for: "icon")
        return record
    }

    @Test("Keys become properties, without regard to case")
    func decoding() throws {
        let printer = try TXTRecordDecoder().decode(Printer.self, from: record)
        let expected = Printer(
            name: "Printer", count: 3, kind: .laser, color: true, duplex: true, icon: Data([0xff, 0xfe]), ratio: 0.5)
        #expect(printer == expected)
    }

    @Test("A record decodes as a dictionary")
    func dictionary() throws {
        let record = NWTXTRecord(["a": "1", "b": ""])
        #expect(try TXTRecordDecoder().decode([String: String].self, from: record) == ["a": "1", "b": ""])
    }

    static let mistakes: [(String, String?)] = [
        ("ty", nil), ("qtotal", "256"), ("qtotal", "three"), ("kind", "matrix"), ("Color", "perhaps"),
    ]

    @Test("A missing or incompatible value is an error", arguments: mistakes)
    func refusal(key: String, value: String?) {
        var record = record
        record[key] = value
        #expect(throws: DecodingError.self) { try TXTRecordDecoder().decode(Printer.self, from: record) }
    }

    private struct Version: RawRepresentable, Decodable, LosslessStringConvertible, Equatable {
        var rawValue: String
        init(rawValue: String) { self.rawValue = rawValue }
        init(_ text: String) { rawValue = text }
        var description: String { rawValue }
    }

    @Test("Types with their own decoding from text use it")
    func ownTypes() throws {
        struct Service: Decodable {
            var version: Version
            var home: URL
            var id: UUID
            var bytes: [UInt8]
        }
        let id = UUID()
        let record = NWTXTRecord([
            "version": "1.2", "home": "http://example.org/", "id": id.uuidString, "bytes": "ab",
        ])
        let service = try TXTRecordDecoder().decode(Service.self, from: record)
        #expect(service.version == Version("1.2") && service.id == id && service.bytes == [0x61, 0x62])
        #expect(service.home.absoluteString == "http://example.org/")
    }

    @Test("Nested structure is an error")
    func structure() {
        struct Nested: Decodable { var a: [String: String] }
        struct List: Decodable { var a: [String] }
        let record = NWTXTRecord(["a": "1"])
        #expect(throws: DecodingError.self) { try TXTRecordDecoder().decode(Nested.self, from: record) }
        #expect(throws: DecodingError.self) { try TXTRecordDecoder().decode(List.self, from: record) }
        #expect(throws: DecodingError.self) { try TXTRecordDecoder().decode([String].self, from: record) }
        #expect(throws: DecodingError.self) { try TXTRecordDecoder().decode(Int.self, from: record) }
    }
}
