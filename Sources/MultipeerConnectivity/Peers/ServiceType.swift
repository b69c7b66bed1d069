/// Checks service types (RFC 6335 §5.1) and discovery info. The discovery info is sent as a TXT record (RFC 6763 §6).
enum ServiceType {
    /// Maximum size of `key=value` in bytes.
    static let maximumPair = 255
    /// Maximum size of all pairs in bytes, including a length byte each. RFC 6763 §6.2 recommends at most 400 bytes, so
    /// that a service fits into one Ethernet frame.
    static let maximumInfo = 4_096
    /// TXT record keys that the peer protocol uses. The program's discovery info must not contain them.
    private static let reservedKeys: Set<String> = ["_cw", "_id", "_k", "_n"]

    /// Returns why a text is not a valid service type; `nil` if it is valid.
    static func problem(with type: String) -> String? {
        let bytes = Array(type.utf8)
        guard (1...15).contains(bytes.count) else {
            return "service type '\(type)' has \(bytes.count) bytes: it must have 1 to 15"
        }
        guard bytes.allSatisfy({ isLetter($0) || isDigit($0) || $0 == hyphen }) else {
            return "service type '\(type)' may have only ASCII letters, digits and hyphens"
        }
        guard bytes.contains(where: isLetter) else { return "service type '\(type)' has no letter" }
        guard bytes.first != hyphen, bytes.last != hyphen else {
            return "service type '\(type)' has a hyphen at its beginning or end"
        }
        guard !zip(bytes, bytes.dropFirst()).contains(where: { $0 == hyphen && $1 == hyphen }) else {
            return "service type '\(type)' has two adjacent hyphens"
        }
        return nil
    }

    /// Returns why pairs are not valid discovery info; `nil` if they are valid.
    static func problem(withInfo info: [String: String]) -> String? {
        var total = 0
        for (key, value) in info.sorted(by: { $0.key < $1.key }) {
            guard !key.isEmpty, key.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }) else {
                return "discovery info key '\(key)' must have printable ASCII characters other than '='"
            }
            guard !reservedKeys.contains(key.lowercased()) else { return "discovery info key '\(key)' is reserved" }
            let count = key.utf8.count + 1 + value.utf8.count
            guard count <= maximumPair else {
                return "discovery info '\(key)' has \(count) bytes with its value: the maximum is \(maximumPair)"
            }
            total += count + 1
        }
        return total <= maximumInfo ? nil : "discovery info has \(total) bytes: the maximum is \(maximumInfo)"
    }

    private static let hyphen = UInt8(ascii: "-")
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
