/// A host's name that is held against a constraint on names (RFC 5280 §4.2.1.10).
struct ConstrainedName {
    /// In small letters, without the wildcard.
    private let name: [UInt8]
    let isWildcard: Bool

    /// `nil` when it is no name of a host, which no constraint can be held against.
    init?(dns text: String) {
        let lower = Self.lower(text)
        isWildcard = lower.starts(with: "*.".utf8)
        name = isWildcard ? Array(lower.dropFirst(2)) : lower
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.count <= 63 && $0.allSatisfy(Self.isLetter) }) else { return nil }
    }

    /// The host in a URI; `nil` when there is none, or an address stands in its place.
    init?(uri: String) {
        guard let start = uri.utf8.indices.first(where: { uri.utf8[$0...].starts(with: "://".utf8) }) else {
            return nil
        }
        let authority = uri.utf8[start...].dropFirst(3).prefix { !"/?#".utf8.contains($0) }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
        let name = host.prefix { $0 != UInt8(ascii: ":") }
        guard !name.contains(UInt8(ascii: "*")), !name.isEmpty,
            !name.allSatisfy({ $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        self.init(dns: String(decoding: name, as: UTF8.self))
    }

    /// Whether it, or everything that a wildcard stands for, is `base` or below it.
    ///
    /// A dot before the base leaves out the base itself: the profile knows that for other kinds of names alone, and authorities
    /// write it here too.
    func lies(in base: String) -> Bool {
        let base = Self.lower(base)
        if base.isEmpty { return true }
        guard base.first != UInt8(ascii: ".") else {
            return isWildcard && name.elementsEqual(base.dropFirst()) || isBelow(Array(base.dropFirst()))
        }
        return name == base || isBelow(base)
    }

    /// Whether it, or something that a wildcard stands for, is `base` or below it.
    func mayLie(in base: String) -> Bool {
        let base = Self.lower(base)
        let plain = Array(base.first == UInt8(ascii: ".") ? base.dropFirst() : base[...])
        if plain.isEmpty || name == plain || isBelow(plain) { return true }
        guard isWildcard, plain.count > name.count + 1, plain.suffix(name.count).elementsEqual(name) else {
            return false
        }
        let label = plain.dropLast(name.count)
        return label.last == UInt8(ascii: ".") && !label.dropLast().contains(UInt8(ascii: "."))
    }

    /// For mail and URIs: a host, or with a dot before it everything below.
    func isOf(hostOrDomain base: String) -> Bool {
        let base = Self.lower(base)
        if base.isEmpty { return true }
        return base.first == UInt8(ascii: ".") ? isBelow(Array(base.dropFirst())) : name == base
    }

    private func isBelow(_ base: [UInt8]) -> Bool {
        name.count > base.count + 1 && name.suffix(base.count).elementsEqual(base)
            && name[name.count - base.count - 1] == UInt8(ascii: ".")
    }

    private static func lower(_ text: String) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    private static func isLetter(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
