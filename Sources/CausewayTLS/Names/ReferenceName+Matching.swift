/// A certificate's subject alternative name (RFC 5280 §4.2.1.6).
package enum SubjectAlternativeName: Hashable, Sendable {
    case name(String)
    /// An address. In a valid certificate it has 4 or 16 bytes.
    case address([UInt8])
    case email(String)
    case uri(String)
    case other
}

extension ReferenceName {
    /// The maximum number of names per certificate that are compared. It limits the work that a peer can cause.
    static let nameLimit = 2_048

    /// Returns whether a certificate with these names belongs to this peer (RFC 9525 §6).
    ///
    /// DNS names match only DNS names, and addresses match only addresses. The subject is ignored (RFC 9525 §6.2, §6.4).
    package func matches(_ names: [SubjectAlternativeName]) -> Bool {
        names.prefix(Self.nameLimit).contains { matches($0) }
    }

    private func matches(_ presented: SubjectAlternativeName) -> Bool {
        switch (self, presented) {
        case (.name(let name), .name(let pattern)): Self.matches(name, pattern: pattern)
        case (.address(let mine), .address(let theirs)): mine == theirs
        case (.name, _), (.address, _): false
        }
    }

    /// Compares label by label. A first label `*` matches any label if at least two labels follow (RFC 9525 §6.3).
    private static func matches(_ name: String, pattern: String) -> Bool {
        let name = name.utf8
        let pattern = pattern.utf8
        guard !pattern.isEmpty, pattern.last != UInt8(ascii: ".") else { return false }
        guard pattern.starts(with: "*.".utf8) else { return areEqual(name[...], pattern[...]) }
        let fixed = pattern.dropFirst(1)
        guard fixed.dropFirst().contains(UInt8(ascii: ".")) else { return false }
        guard let dot = name.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return areEqual(name[dot...], fixed)
    }

    /// Returns whether two names are equal, without regard to ASCII case. `name` must already be in lower case;
    /// `pattern` may have any case.
    private static func areEqual(_ name: Substring.UTF8View, _ pattern: Substring.UTF8View) -> Bool {
        name.count == pattern.count
            && zip(name, pattern).allSatisfy { mine, theirs in
                let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(theirs)
                return mine == (isUpper ? theirs | 0x20 : theirs)
            }
    }
}
