import CausewayProtocols
package import CausewayWire

/// A host's `Strict-Transport-Security` policy (RFC 6797 §6.1).
package struct StrictTransportPolicy: Equatable, Sendable {
    /// The maximum age in seconds: 100 years. Larger values are reduced to this age.
    static let maximumAge = 3_155_760_000

    /// The policy's lifetime in seconds; 0 to remove the policy.
    package let maxAge: Int
    package let includesSubdomains: Bool

    /// Parses the first `Strict-Transport-Security` field line of a response. Returns `nil` if there is none, or if the
    /// line violates the grammar, repeats a directive, or lacks a valid `max-age`. Unknown directives are ignored (RFC
    /// 6797 §6.1, §8.1).
    package init?(_ fields: FieldSection) {
        guard let index = fields.index(of: "Strict-Transport-Security") else { return nil }
        var reader = FieldValueReader(HTTPCharacters.trimmed(fields[index].value))
        var directives: [String: [UInt8]?] = [:]
        while !reader.isAtEnd {
            reader.skipSpace()
            if let token = reader.token() {
                let name = URIBytes.lowercased(String(decoding: token, as: UTF8.self))
                reader.skipSpace()
                var value: [UInt8]?
                if reader.take("=") {
                    reader.skipSpace()
                    value = reader.tokenOrQuotedString()
                    guard value != nil else { return nil }
                    reader.skipSpace()
                }
                guard directives.updateValue(value, forKey: name) == nil else { return nil }
            }
            guard reader.isAtEnd || reader.take(";") else { return nil }
        }
        guard case .some(.some(let digits)) = directives["max-age"], !digits.isEmpty,
            digits.allSatisfy(URIBytes.isDigit)
        else { return nil }
        maxAge = digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), Self.maximumAge) }
        includesSubdomains = directives["includesubdomains"] != nil
    }
}
