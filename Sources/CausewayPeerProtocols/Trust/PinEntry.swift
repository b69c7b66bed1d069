internal import CausewayTypes
internal import CausewayWire

/// A key recorded for a peer ID.
///
/// The text form has one line per property, so that users can read a store's files.
package struct PinEntry: Hashable, Sendable {
    package var key: PeerKey
    /// The display name when the key was recorded, at most 255 bytes, without control characters. It is not verified.
    package var name: String
    /// When the key was first recorded, in seconds since 1970.
    package var firstSeen: UInt64
    /// Whether the peers proved a pairing secret or their users compared codes.
    package var isPaired: Bool

    /// The error for a text that is not a valid pin entry.
    package struct Malformed: Error, Equatable, Sendable {
        package var message: String

        package init(message: String) { self.message = message }
    }

    private static let heading = "causeway-pin 1"
    /// Maximum size of the text form in bytes.
    package static let byteCount = 512

    package init(key: PeerKey, name: String, firstSeen: UInt64 = 0, isPaired: Bool = false) {
        (self.key, self.firstSeen, self.isPaired) = (key, firstSeen, isPaired)
        self.name = Self.printable(name)
    }

    /// Returns the text without control characters and line separators, at most 255 bytes.
    private static func printable(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: continue
            default: break
            }
            guard text.utf8.count + UTF8.width(scalar) <= PeerLimits.name else { break }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    package var text: String {
        let digest = Self.hexadecimal(key.high) + Self.hexadecimal(key.low)
        return """
            \(Self.heading)
            id \(Self.hexadecimal(key.id))
            key \(digest)
            first \(firstSeen)
            paired \(isPaired ? "yes" : "no")
            name \(name)

            """
    }

    /// Returns the number as 16 hexadecimal digits, as in file names.
    package static func hexadecimal(_ number: UInt64) -> String { Hexadecimal.text(number) }

    /// Parses the text form. Each property must occur once, in any order.
    package init(_ bytes: [UInt8]) throws(Malformed) {
        guard bytes.count <= Self.byteCount else { throw Malformed(message: "\(bytes.count) bytes are too many") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed(message: "it is not UTF-8") }
        var values: [Substring: Substring] = [:]
        // Split Unicode scalars and not characters, because CR LF is a single character in Swift.
        let lines = text.unicodeScalars.split(separator: "\n").map { Substring($0) }
        guard let first = lines.first, first.utf8.elementsEqual(Self.heading.utf8) else {
            throw Malformed(message: "the first line is not '\(Self.heading)'")
        }
        for line in lines.dropFirst() {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, values.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw Malformed(message: "a line is doubled or has no value")
            }
        }
        guard let id = values["id"].flatMap(Self.number), let digest = values["key"], digest.utf8.count == 32,
            let high = Self.number(digest.prefix(16)), let low = Self.number(digest.dropFirst(16))
        else { throw Malformed(message: "the id or the key is missing or invalid") }
        guard let seconds = values["first"].flatMap({ UInt64(digits: $0) }), let name = values["name"],
            let paired = values["paired"], paired == "yes" || paired == "no"
        else { throw Malformed(message: "the date, the name or the pairing is missing or invalid") }
        let entry = PinEntry(
            key: PeerKey(id: id, high: high, low: low), name: String(name), firstSeen: seconds,
            isPaired: paired == "yes")
        self = entry
    }

    private static func number(_ digits: Substring) -> UInt64? {
        digits.utf8.count == 16 ? UInt64(digits: digits, radix: 16) : nil
    }
}
