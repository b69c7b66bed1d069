import ArgumentParser
import CausewayTypes
import CausewayWire

/// `nw byteorder`: shows this computer's byte order.
struct ByteOrderCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "byteorder",
        abstract: "Show the byte order of this computer, and numbers in both orders.",
        usage: "nw byteorder [<options>] [NUMBER...]",
        discussion: """
            Network protocols send the most significant byte first (big-endian). A NUMBER \
            is decimal or, with 0x, hexadecimal, and has the smallest of 2, 4 and 8 bytes \
            that it fits in.

            Examples:
              nw byteorder
              nw byteorder 8080 0xC0000201
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    @Argument(help: ArgumentHelp("Numbers to show.", valueName: "number"))
    var numbers: [String] = []

    func validate() throws {
        for text in numbers where Shown(text) == nil {
            throw ValidationError("'\(PrintableText(foreign: text).text)' is not a number of at most 64 bits.")
        }
    }

    func run() async throws {
        let shown = numbers.compactMap { Shown($0) }
        if json { return printLine(PrintableText(json: Report(order: Self.order, numbers: shown))) }
        printLine(PrintableText(document: Self.order))
        for number in shown {
            printLine("\(number.number)  big-endian \(number.bigEndian)  little-endian \(number.littleEndian)")
        }
    }

    /// This computer's byte order for numbers.
    private static var order: String {
        withUnsafeBytes(of: 0x0102 as UInt16) { $0.elementsEqual([1, 2]) ? "big-endian" : "little-endian" }
    }

    private struct Report: Encodable {
        var order: String
        var numbers: [Shown]
    }

    /// A number and its bytes in both orders.
    struct Shown: Encodable, Equatable {
        var number: UInt64
        var bigEndian: String
        var littleEndian: String

        init?(_ text: String) {
            let hexadecimal = text.hasPrefix("0x") || text.hasPrefix("0X")
            guard let value = hexadecimal ? UInt64(digits: text.dropFirst(2), radix: 16) : UInt64(digits: text) else {
                return nil
            }
            let count = value <= UInt16.max ? 2 : value <= UInt32.max ? 4 : 8
            let bytes = (0..<count).map { index in
                Hexadecimal.text(UInt8(truncatingIfNeeded: value >> (8 * UInt64(count - 1 - index))))
            }
            number = value
            bigEndian = bytes.joined(separator: " ")
            littleEndian = bytes.reversed().joined(separator: " ")
        }
    }
}
