/// A response priority (RFC 9218 §4): the value in the `priority` field and in PRIORITY_UPDATE frames.
package struct HTTPPriority: Hashable, Sendable {
    /// The number of urgency levels.
    package static let levelCount = 8

    /// The urgency level, from 0 for the most urgent to 7 for the least urgent.
    package var urgency: UInt8
    /// Whether the client can process the response incrementally. If so, the response may share the connection with
    /// other responses at the same level.
    package var isIncremental: Bool

    package init(urgency: UInt8 = 3, isIncremental: Bool = false) {
        self.urgency = min(urgency, UInt8(Self.levelCount - 1))
        self.isIncremental = isIncremental
    }

    /// Parses the field value. Parameters that are missing, unknown, invalid, or located after a syntax error have no
    /// effect (RFC 9218 §4).
    package init(parsing value: some Sequence<UInt8>) {
        self.init()
        let text = value.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        for member in text.split(separator: UInt8(ascii: ",")) {
            // Parameters can follow the value of a dictionary member, as in `u=1;x`. They are not part of the value
            // (RFC 9651 §3.1.2). Drop the text from the semicolon on.
            let item = member.prefix { $0 != UInt8(ascii: ";") }
            let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            switch parts.first.map(Array.init) {
            case [UInt8(ascii: "u")]:
                guard parts.count == 2, parts[1].count == 1, let digit = parts[1].first, digit >= 0x30,
                    digit < 0x30 + UInt8(Self.levelCount)
                else { continue }
                urgency = digit - 0x30
            case [UInt8(ascii: "i")]:
                guard parts.count == 2 else {
                    isIncremental = true
                    continue
                }
                if Array(parts[1]) == Array("?1".utf8) { isIncremental = true }
                if Array(parts[1]) == Array("?0".utf8) { isIncremental = false }
            default: continue
            }
        }
    }

    /// The field value. Parameters with default values are omitted, so the value is empty for the default priority.
    package var fieldValue: String {
        var parts: [String] = []
        if urgency != 3 { parts.append("u=\(urgency)") }
        if isIncremental { parts.append("i") }
        return parts.joined(separator: ", ")
    }
}
