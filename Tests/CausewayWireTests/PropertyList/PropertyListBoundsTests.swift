@testable import CausewayWire
import Foundation
import Testing

@Suite("The limits of property lists")
struct PropertyListBoundsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let isPermitted: Bool

        init(_ testDescription: String, _ bytes: [UInt8], isPermitted: Bool) {
            (self.testDescription, self.bytes, self.isPermitted) = (testDescription, bytes, isPermitted)
        }
    }

    /// Returns an XML property list with the opening tags, or other markup, a number of times.
    private static func xml(_ opening: String, _ count: Int, closing: String = "") -> [UInt8] {
        let open = String(repeating: opening, count: count)
        return Array("<?xml version=\"1.0\"?><plist>\(open)\(String(repeating: closing, count: count))</plist>".utf8)
    }

    private static func utf16(_ text: [UInt8], isLittle: Bool) -> [UInt8] {
        (isLittle ? [0xFF, 0xFE] : [0xFE, 0xFF]) + text.flatMap { isLittle ? [$0, 0] : [0, $0] }
    }

    static let texts = [
        Row("deep arrays", xml("<array>", 511, closing: "</array>"), isPermitted: true),
        Row("too deep arrays", xml("<array>", 512, closing: "</array>"), isPermitted: false),
        Row("no end tags", xml("<array>", 200_000), isPermitted: false),
        Row("dictionaries", xml("<dict><key>a</key>", 600), isPermitted: false),
        Row("lists in lists", xml("<plist>", 600), isPermitted: false),
        Row("siblings", xml("<array></array>", 10_000), isPermitted: true),
        Row("empty elements", xml("<array/><dict />", 10_000), isPermitted: true),
        Row("end tags in comments", xml("<array><!--</array>-->", 600), isPermitted: false),
        Row("end tags in instructions", xml("<array><? </array>?>", 600), isPermitted: false),
        Row("end tags in texts", xml("<array><string><![CDATA[</array>]]></string>", 600), isPermitted: false),
        Row("end tags in attributes", xml("<array a='</array'>", 600), isPermitted: false),
        Row("UTF-16, big-endian", utf16(xml("<array>", 600), isLittle: false), isPermitted: false),
        Row("UTF-16, little-endian", utf16(xml("<array>", 600), isLittle: true), isPermitted: false),
        Row("shallow UTF-16", utf16(xml("<array>", 10), isLittle: true), isPermitted: true),
        Row("a mark of UTF-32", [0, 0, 0xFE, 0xFF] + xml("", 0), isPermitted: false),
        Row("no markup", Array("text".utf8), isPermitted: true),
        Row("nothing", [], isPermitted: true),
    ]

    /// Returns a binary property list of arrays, with the numbers of the objects to which each refers. An object
    /// without references is a Boolean.
    private static func binary(_ objects: [[Int]]) -> [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for references in objects {
            offsets.append(bytes.count)
            // The number of references follows in an integer of two bytes.
            bytes += references.isEmpty ? [9] : [0xAF, 0x11] + number(references.count, 2)
            for reference in references { bytes += number(reference, 2) }
        }
        let table = bytes.count
        for offset in offsets { bytes += number(offset, 4) }
        return bytes + [0, 0, 0, 0, 0, 0, 4, 2] + number(objects.count, 8) + number(0, 8) + number(table, 8)
    }

    /// Objects of which each refers to the next one, a number of times.
    private static func chain(_ count: Int, times: Int = 1) -> [[Int]] {
        (1..<count).map { next in [Int](repeating: next, count: times) } + [[]]
    }

    static let lists = [
        Row("one value", binary([[]]), isPermitted: true),
        Row("a deep list", binary(chain(512)), isPermitted: true),
        Row("a list that is too deep", binary(chain(513)), isPermitted: false),
        Row("a shared value", binary([[Int](repeating: 1, count: 10_000), []]), isPermitted: true),
        Row("values that double 20 times", binary(chain(20, times: 2)), isPermitted: true),
        Row("values that double 40 times", binary(chain(40, times: 2)), isPermitted: false),
        Row("an array in itself", binary([[0]]), isPermitted: false),
        Row("a circle", binary([[1], [2], [3, 1], []]), isPermitted: false),
        Row("a reference to no object", binary([[5]]), isPermitted: false),
        Row("a truncated list", Array(binary(chain(20)).dropLast(40)), isPermitted: false),
        Row("only the beginning", Array("bplist00".utf8), isPermitted: false),
    ]

    @Test("Property lists that are too deep, or too large when decoded, are refused", arguments: texts + lists)
    func limits(_ row: Row) {
        #expect(PropertyListBounds.contain(row.bytes) == row.isPermitted)
    }

    /// What Foundation's decoder makes of a property list: arrays, and other values, whose contents do not count.
    private struct Decoded: Decodable {
        /// The value is larger than the limits. The decoder goes no further, so a value in itself is no danger here.
        struct Excess: Error {}

        var valueCount = 1

        init(from decoder: any Decoder) throws {
            guard decoder.codingPath.count < PropertyListBounds.depth else { throw Excess() }
            guard var elements = try? decoder.unkeyedContainer() else { return }
            while !elements.isAtEnd {
                valueCount += try elements.decode(Decoded.self).valueCount
                guard valueCount <= PropertyListBounds.valueCount else { throw Excess() }
            }
        }
    }

    @Test("With any wrong byte, a binary property list that is permitted is decoded within the limits, or not at all")
    func mutations() {
        var decodedCount = 0
        // A wrong reference in the first list leads into a circle. The second list is one level too deep.
        for (list, step) in [(Self.binary(Self.chain(6, times: 3)), 1), (Self.binary(Self.chain(513)), 101)] {
            for index in stride(from: 0, to: list.count, by: step) {
                for value in [0, 1, 9, 0xAF, 0xD2, 0xFF] as [UInt8] {
                    var bytes = list
                    bytes[index] = value
                    guard PropertyListBounds.contain(bytes) else { continue }
                    do {
                        _ = try PropertyListDecoder().decode(Decoded.self, from: Data(bytes))
                        decodedCount += 1
                    } catch is Decoded.Excess {
                        Issue.record("byte \(index) of \(list.count) is \(value)")
                    } catch {
                        // A list that is not decoded may be permitted.
                    }
                }
            }
        }
        #expect(decodedCount > 0)
    }
}
