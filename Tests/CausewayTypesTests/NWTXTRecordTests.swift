import CausewayTypes
import Foundation
import Testing

@Suite("NWTXTRecord")
struct NWTXTRecordTests {
    /// Encodes strings as bytes, each string with its length in front.
    private static func wire(_ strings: String...) -> Data {
        strings.reduce(into: Data()) { data, string in
            data.append(UInt8(string.utf8.count))
            data.append(contentsOf: string.utf8)
        }
    }

    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var data: Data
        var entries: [(String, NWTXTRecord.Entry)]

        init(_ description: String, _ data: Data, _ entries: [(String, NWTXTRecord.Entry)]) {
            testDescription = description
            self.data = data
            self.entries = entries
        }
    }

    // RFC 6763 §6.3, §6.4, §6.5.
    @Test(
        "C85 C86: reads the wire form",
        arguments: [
            Row("nothing", Data(), []),
            Row("a single zero byte", Data([0]), []),
            Row(
                "no value, empty value, text", wire("a", "b=", "c=d"),
                [("a", .none), ("b", .empty), ("c", .string("d"))]),
            Row("only the first = separates", wire("a=b=c", "d=="), [("a", .string("b=c")), ("d", .string("="))]),
            Row("not text", Data([4, 0x61, 0x3d, 0xff, 0x00]), [("a", .data(Data([0xff, 0])))]),
            Row("empty strings between others", wire("", "a", "", "b"), [("a", .none), ("b", .none)]),
            Row("no key", wire("=x", "=", "a"), [("a", .none)]),
            Row("the first of repeated keys counts", wire("Key=1", "kEY=2", "key"), [("Key", .string("1"))]),
            Row("keys with spaces, case kept", wire("A b =c"), [("A b ", .string("c"))]),
            Row("key that is not ASCII", wire("é=1", "a=1"), [("a", .string("1"))]),
            Row("key with a control character", wire("\u{7}=1", "\u{7f}"), []),
            Row("UTF-8 value", wire("a=naïve ☃"), [("a", .string("naïve ☃"))]),
            Row("length beyond the end", Data([5, 0x61]), []),
            Row("length beyond the end, later", wire("a") + Data([1]), []),
        ])
    func reads(row: Row) {
        let record = NWTXTRecord(row.data)
        #expect(record.map(\.key) == row.entries.map(\.0))
        #expect(record.map(\.value) == row.entries.map(\.1))
        #expect(record.count == row.entries.count)
        #expect(record.data == row.data)
        for (key, entry) in row.entries {
            #expect(record.getEntry(for: key.uppercased()) == entry)
        }
    }

    @Test("A slice of other data is read from its own start")
    func readsSlice() {
        let slice = (Data([9, 9, 9]) + Self.wire("a=1", "b=2")).dropFirst(3)
        #expect(NWTXTRecord(slice).dictionary == ["a": "1", "b": "2"])
    }

    @Test("Writes its entries, sorted by key")
    func writes() {
        let record = NWTXTRecord(["b": "2", "a": "1", "c": ""])
        #expect(record.data == Self.wire("a=1", "b=2", "c="))
        #expect(record.dictionary == ["a": "1", "b": "2", "c": ""])
        #expect(NWTXTRecord().data.isEmpty)
        #expect(NWTXTRecord().isEmpty)
    }

    // Tests RFC 6763 §6.4.
    @Test(
        "C85: invalid keys",
        arguments: ["", "=", "a=", "é", "a\u{0}", "\n", "\u{7f}", String(repeating: "k", count: 256)])
    func rejectsKeys(key: String) {
        var record = NWTXTRecord(["a": "1"])
        let before = record
        let added = record.setEntry(.none, for: key)
        let removed = record.removeEntry(key: key)
        #expect(!added)
        #expect(!removed)
        #expect(record.getEntry(for: key) == nil)
        #expect(record == before)
        #expect(NWTXTRecord([key: "x"]).isEmpty)
    }

    @Test(
        "Key and value together have at most 255 bytes",
        arguments: [
            (1, 253, true), (1, 254, false), (255, nil, true), (254, 0, true), (255, 0, false), (100, 200, false),
        ]
            as [(Int, Int?, Bool)])
    func limitsStrings(keyCount: Int, valueCount: Int?, isAccepted: Bool) {
        var record = NWTXTRecord()
        let entry = NWTXTRecord.Entry(valueCount.map { Data(repeating: 0xff, count: $0) })
        let accepted = record.setEntry(entry, for: String(repeating: "k", count: keyCount))
        #expect(accepted == isAccepted)
        #expect(record.data.count == (isAccepted ? 256 : 0))
    }

    // RFC 6763 §6.2.
    @Test("C84: a record has at most 65535 bytes")
    func limitsRecord() {
        var record = NWTXTRecord()
        for number in 0..<255 {
            let added = record.setEntry(.string(String(repeating: "v", count: 250)), for: String(1000 + number))
            #expect(added)
        }
        #expect(record.data.count == 65280)
        let addedTooLong = record.setEntry(.string(String(repeating: "v", count: 250)), for: "last")
        #expect(!addedTooLong)
        let addedFitting = record.setEntry(.string(String(repeating: "v", count: 249)), for: "last")
        #expect(addedFitting)
        #expect(record.data.count == 65535)
    }

    @Test("Replacing keeps the position, removing closes the gap")
    func changes() {
        var record = NWTXTRecord(Self.wire("a=1", "b=2", "c=3"))
        record["B"] = "two"
        #expect(record.data == Self.wire("a=1", "B=two", "c=3"))
        record["b"] = nil
        #expect(record.data == Self.wire("a=1", "c=3"))
        let removed = record.removeEntry(key: "missing")
        #expect(removed)
        record.setEntry(.none, for: "d")
        record["a"] = ""
        #expect(record.data == Self.wire("a=", "c=3", "d"))
        #expect(record["a"] == "")
        #expect(record["d"] == nil)
        #expect(record["missing"] == nil)
    }

    @Test("Bytes in another format are kept, and accept no entries")
    func opaqueBytes() {
        let bytes = Data([200, 1, 2])
        var record = NWTXTRecord(bytes)
        let added = record.setEntry(.none, for: "a")
        let removed = record.removeEntry(key: "a")
        #expect(!added)
        #expect(!removed)
        #expect(record.data == bytes)
        #expect(record.dictionary.isEmpty)
        #expect(record == NWTXTRecord(bytes))
        #expect(record != NWTXTRecord(Data([200, 1, 3])))
        #expect(record != NWTXTRecord())
        #expect("\(record)" == "{3 bytes}")
    }

    @Test("Equality compares entries, without regard to order and to the case of keys")
    func equality() {
        #expect(NWTXTRecord(Self.wire("a=1", "b")) == NWTXTRecord(Self.wire("B", "A=1")))
        #expect(NWTXTRecord(Self.wire("a=1", "a=2")) == NWTXTRecord(["a": "1"]))
        #expect(NWTXTRecord(Data([0])) == NWTXTRecord())
        #expect(NWTXTRecord(Self.wire("a")) != NWTXTRecord(Self.wire("a=")))
        #expect(NWTXTRecord(Self.wire("a=x")) != NWTXTRecord(Self.wire("a=X")))
        #expect(NWTXTRecord(Self.wire("a", "b")) != NWTXTRecord(Self.wire("a")))
        #expect(NWTXTRecord(Self.wire("a", "b")) != NWTXTRecord(Self.wire("a", "c")))
        #expect(NWTXTRecord(Self.wire("@")) != NWTXTRecord(Self.wire("`")))
    }

    @Test(
        "Entries are normalized to the case that their bytes have when received",
        arguments: [
            (.none, nil, ""), (.empty, [], "="), (.string("a"), [0x61], "=a"),
            (.data(Data([0xff])), [0xff], "=<1 bytes>"),
        ] as [(NWTXTRecord.Entry, [UInt8]?, String)])
    func entries(entry: NWTXTRecord.Entry, bytes: [UInt8]?, text: String) {
        #expect(NWTXTRecord.Entry(bytes.map { Data($0) }) == entry)
        #expect(entry.data.map { [UInt8]($0) } == bytes)
        #expect("\(entry)" == text)
        var record = NWTXTRecord()
        record.setEntry(entry == .empty ? .string("") : bytes.map { .data(Data($0)) } ?? .none, for: "k")
        #expect(record.getEntry(for: "k") == entry)
    }

    @Test("Prints its entries")
    func prints() {
        #expect("\(NWTXTRecord(Self.wire("a", "b=", "c=d")))" == "{a, b=, c=d}")
        #expect("\(NWTXTRecord())" == "{}")
    }

    @Test("C87: any bytes can be read, and written and read again", arguments: 0..<40)
    func roundTrips(seed: Int) {
        var random = SplitMix64(seed: seed)
        let alphabet: [UInt8] = [0, 1, 2, 3, 4, 5, 0x3d, 0x3d, 0x61, 0x41, 0x62, 0xc3, 0xa9, 0xff]
        for _ in 0..<200 {
            let count = Int.random(in: 0...24, using: &random)
            let bytes = Data((0..<count).compactMap { _ in alphabet.randomElement(using: &random) })
            let record = NWTXTRecord(bytes)
            #expect(record.data == bytes)
            var copy = NWTXTRecord()
            for (key, value) in record {
                let added = copy.setEntry(value, for: key)
                #expect(added)
            }
            #expect(NWTXTRecord(copy.data).elementsEqual(copy, by: ==))
            #expect(copy.elementsEqual(record, by: ==))
        }
    }
}
