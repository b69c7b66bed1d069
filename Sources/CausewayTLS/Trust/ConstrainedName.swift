/// A host name for comparison with name constraints (RFC 5280 §4.2.1.10).
struct ConstrainedName: Sendable {
    /// The name in lower case, without the wildcard label.
    private let name: [UInt8]
    let isWildcard: Bool

    /// Creates a name from text. Returns `nil` if `text` is not a valid host name, because a name constraint applies
    /// only to valid host names.
    init?(dns text: some StringProtocol) {
        let lower = Self.lower(text)
        isWildcard = lower.starts(with: "*.".utf8)
        name = isWildcard ? Array(lower.dropFirst(2)) : lower
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.count <= 63 && $0.allSatisfy(Self.isLetter) }) else { return nil }
    }

    /// Extracts the host from a URI. Returns `nil` if there is no host or the host is an address.
    init?(uri: String) {
        guard let authority = Self.authority(of: uri.utf8) else { return nil }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
        let name = host.prefix { $0 != UInt8(ascii: ":") }
        guard !name.contains(UInt8(ascii: "*")), !name.isEmpty,
            !name.allSatisfy({ $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        self.init(dns: String(decoding: name, as: UTF8.self))
    }

    private static func authority(of uri: String.UTF8View) -> Substring.UTF8View? {
        var rest = uri[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            rest = rest[colon...].dropFirst()
            if rest.starts(with: "//".utf8) { return rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) } }
        }
        return nil
    }

    // The functions below expect the parameter `base` in lower case. `NameSubtree` converts it.

    /// Returns whether the name is `base` or a subdomain of `base`. For a wildcard name, every name that it matches
    /// must be `base` or a subdomain of `base`.
    func lies(in base: [UInt8]) -> Bool { base.isEmpty || name == base || isBelow(base) }

    /// Returns whether the name is `base` or one of its subdomains. For a wildcard, this must hold for at least one
    /// matching name.
    func mayLie(in base: [UInt8]) -> Bool {
        if lies(in: base) { return true }
        guard isWildcard, base.count > name.count + 1, base.suffix(name.count).elementsEqual(name) else { return false }
        let label = base.dropLast(name.count)
        return label.last == UInt8(ascii: ".") && !label.dropLast().contains(UInt8(ascii: "."))
    }

    /// Returns whether the host in an email address or URI satisfies a constraint. If `base` starts with a dot, the
    /// host must be a subdomain of this domain. Otherwise the host must be equal to `base`. Every host satisfies an
    /// empty `base`.
    func isOf(hostOrDomain base: [UInt8]) -> Bool {
        if base.isEmpty { return true }
        return base.first == UInt8(ascii: ".") ? isBelow(base.dropFirst()) : name == base
    }

    private func isBelow(_ base: some BidirectionalCollection<UInt8>) -> Bool {
        let count = base.count
        return name.count > count + 1 && name[name.count - count - 1] == UInt8(ascii: ".")
            && name.suffix(count).elementsEqual(base)
    }

    static func lower(_ text: some StringProtocol) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
