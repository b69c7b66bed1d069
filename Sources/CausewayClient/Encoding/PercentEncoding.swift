internal import CausewayWire

/// Percent-encoding of the parts of a URL (RFC 3986 §2.1) and of forms (WHATWG URL §5.2).
enum PercentEncoding {
    /// Where encoded text is used.
    enum Place: Sendable {
        /// A value inside a path or a query. All characters except the unreserved ones are encoded.
        case value
        /// A path written by the program, with its slashes (RFC 3986 §3.3).
        case path
        /// A query written by the program, with its delimiters (RFC 3986 §3.4).
        case query
        /// A name or a value in `application/x-www-form-urlencoded`: a space becomes `+`.
        case form
    }

    /// Encodes the bytes that are not permitted where the text is used.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - place: Where the result is used.
    ///   - keepsTriplets: Whether a percent sign before two hexadecimal digits is kept, because the text is already
    ///     encoded.
    static func encoded(_ text: some StringProtocol, for place: Place, keepsTriplets: Bool = false) -> String {
        if text.utf8.allSatisfy({ isPermitted($0, in: place) }) { return String(text) }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 2)
        for (index, byte) in bytes.enumerated() {
            if isPermitted(byte, in: place) || (keepsTriplets && isTriplet(bytes[index...])) {
                result.append(byte)
            } else if place == .form, byte == UInt8(ascii: " ") {
                result.append(UInt8(ascii: "+"))
            } else {
                PercentCoding.appendEncoded(byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isPermitted(_ byte: UInt8, in place: Place) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        case UInt8(ascii: "~"): place != .form
        case UInt8(ascii: "*"): place != .value
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"):
            place == .path || place == .query
        case UInt8(ascii: "?"): place == .query
        default: false
        }
    }

    private static func isTriplet(_ bytes: ArraySlice<UInt8>) -> Bool {
        let triplet = bytes.prefix(3)
        return triplet.count == 3 && triplet.first == UInt8(ascii: "%")
            && triplet.dropFirst().allSatisfy { Hexadecimal.value(of: $0) != nil }
    }
}
