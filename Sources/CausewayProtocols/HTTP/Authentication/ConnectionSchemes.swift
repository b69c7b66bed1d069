/// Authentication schemes whose messages depend on each other, so that one connection must carry them.
package struct ConnectionSchemes: OptionSet, Hashable, Sendable {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Negotiate (RFC 4559).
    package static let negotiate = ConnectionSchemes(rawValue: 1)
    /// NTLM (MS-NTHT).
    package static let ntlm = ConnectionSchemes(rawValue: 2)

    /// Creates a set that contains one scheme; `nil` unless the scheme is `negotiate` or `ntlm`.
    package init?(scheme: String) {
        switch scheme {
        case "negotiate": self = .negotiate
        case "ntlm": self = .ntlm
        default: return nil
        }
    }
}
