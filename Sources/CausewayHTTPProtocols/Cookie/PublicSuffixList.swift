import CausewayProtocols

internal import CausewayTypes

/// Public suffixes: domains such as `co.uk` under which different owners register names (https://publicsuffix.org).
///
/// The names of all rules are in one block of text instead of separate strings. The complete list needs about 300 kB of
/// memory.
package struct PublicSuffixList: Sendable {
    /// The maximum list size in bytes. The complete list has 250 kB.
    package static let maximumByteCount = 2 << 20
    /// The maximum host name length in bytes.
    private static let maximumNameByteCount = 253

    /// The rule kind. The stored text excludes the marks `*.` and `!`.
    private enum Kind: UInt8 {
        /// The name in the rule is itself a public suffix, for example `co.uk`.
        case name
        /// `*.ck`: every direct subdomain is a public suffix.
        case subdomains
        /// `!www.ck`: the name is not a public suffix, although another rule includes it.
        case exception
    }

    private struct Rule {
        var start: UInt32
        var count: UInt16
        var kind: Kind
    }

    private var text: [UInt8] = []
    /// The list's rules, sorted by their text.
    private var rules: [Rule] = []

    /// The rule count.
    package var count: Int { rules.count }

    /// Parses a list: one rule per line; comments begin with two slashes. Invalid rules are ignored, as is everything
    /// beyond ``maximumByteCount``. International names may be in Unicode or ASCII form.
    package init(parsing list: [UInt8]) {
        for line in list.prefix(Self.maximumByteCount).split(separator: 0x0A) { note(line.prefix { $0 > 0x20 }) }
        let text = text
        rules.sort { one, other in
            text[Self.range(one)].lexicographicallyPrecedes(text[Self.range(other)])
        }
    }

    private mutating func note(_ line: ArraySlice<UInt8>) {
        var (name, kind) = (line, Kind.name)
        if line.first == UInt8(ascii: "!") {
            (name, kind) = (line.dropFirst(), .exception)
        } else if line.starts(with: "*.".utf8) {
            (name, kind) = (line.dropFirst(2), .subdomains)
        }
        guard !name.isEmpty, !line.starts(with: "//".utf8), !name.contains(UInt8(ascii: "*")) else { return }
        // An exception (`!NAME`) excludes a name from a rule with a wildcard (`*.SUFFIX`). So the name of an exception
        // has at least two labels.
        guard kind != .exception || name.contains(UInt8(ascii: ".")) else { return }
        let start = text.count
        for (index, label) in name.split(separator: 0x2E, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { text.append(0x2E) }
            guard append(label) else { return text.removeSubrange(start...) }
        }
        guard text.count - start <= Self.maximumNameByteCount else { return text.removeSubrange(start...) }
        rules.append(Rule(start: UInt32(start), count: UInt16(text.count - start), kind: kind))
    }

    /// Appends a label in ASCII form. Returns `false` if it is invalid.
    private mutating func append(_ label: ArraySlice<UInt8>) -> Bool {
        guard !label.isEmpty, label.count <= Self.maximumNameByteCount else { return false }
        if label.allSatisfy({ $0 < 0x80 }) {
            for byte in label { text.append(URIBytes.isLetter(byte) ? byte | 0x20 : byte) }
            return true
        }
        guard let encoded = Punycode.label(String(decoding: label, as: UTF8.self)) else { return false }
        text += encoded.utf8
        return true
    }

    private static func range(_ rule: Rule) -> Range<Int> { Int(rule.start)..<Int(rule.start) + Int(rule.count) }

    // MARK: Questions

    /// Returns whether a domain is a public suffix. A single label always is a public suffix, an IP address never is
    /// one.
    ///
    /// - Parameter domain: The domain in lower case, in ASCII form and without a final dot.
    package func isPublicSuffix(_ domain: String) -> Bool {
        guard !CookieContext.isAddress(domain) else { return false }
        let name = Array(domain.utf8)
        return suffixStart(of: name[...]) == 0
    }

    /// Returns a host's registrable domain: its public suffix with one more label. A host that is itself a public
    /// suffix, and an IP address, are returned unchanged.
    package func registrableDomain(of host: String) -> String {
        let lower = URIBytes.lowercased(host)
        let bare = lower.utf8.last == UInt8(ascii: ".") ? String(Substring(lower.utf8.dropLast())) : lower
        guard !CookieContext.isAddress(bare) else { return bare }
        let name = Array(bare.utf8)
        let start = suffixStart(of: name[...])
        guard start > 1 else { return bare }
        let label = name[..<(start - 1)].lastIndex(of: 0x2E).map { $0 + 1 } ?? 0
        return String(decoding: name[label...], as: UTF8.self)
    }

    /// Returns whether both hosts have the same registrable domain.
    package func isSameSite(_ one: String, _ other: String) -> Bool {
        registrableDomain(of: one) == registrableDomain(of: other)
    }

    /// Returns the index at which the public suffix of a name starts. An exception rule takes precedence. Otherwise the
    /// longest matching rule applies.
    private func suffixStart(of name: ArraySlice<UInt8>) -> Int {
        guard name.count <= Self.maximumNameByteCount else { return name.startIndex }
        var (rest, found) = (name, kinds(of: name))
        var longest: Int?
        while let dot = rest.firstIndex(of: 0x2E) {
            let parent = name[(dot + 1)...]
            let above = kinds(of: parent)
            if found.contains(.exception) { return parent.startIndex }
            if longest == nil, found.contains(.name) || above.contains(.subdomains) { longest = rest.startIndex }
            (rest, found) = (parent, above)
        }
        return longest ?? rest.startIndex
    }

    /// Returns the kinds of all rules for exactly this name.
    private func kinds(of name: ArraySlice<UInt8>) -> [Kind] {
        var (low, high) = (0, rules.count)
        while low < high {
            let middle = (low + high) / 2
            if text[Self.range(rules[middle])].lexicographicallyPrecedes(name) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return rules[low...].prefix { text[Self.range($0)].elementsEqual(name) }.map(\.kind)
    }
}
