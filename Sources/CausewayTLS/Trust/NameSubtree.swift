/// A certificate name, decoded once for comparison with name constraints.
struct ComparableName: Sendable {
    enum Form: Sendable {
        /// A DNS name, or a URI's host.
        case host(ConstrainedName)
        case mail(local: [UInt8], host: ConstrainedName)
        case directory(DistinguishedName)
        /// An address of 4 or 16 bytes.
        case address([UInt8])
        /// A name that the library cannot compare. Every constraint on names of this type excludes it.
        case incomparable
    }

    let name: GeneralName
    let form: Form
    /// The name's length in bytes. A comparison with a name constraint reads at most this number of bytes.
    let byteCount: Int

    init(_ name: GeneralName) {
        self.name = name
        form = Self.form(of: name)
        byteCount = name.byteCount
    }

    private static func form(of name: GeneralName) -> Form {
        switch name {
        case .dns(let text): ConstrainedName(dns: text).map { .host($0) } ?? .incomparable
        case .uri(let text): ConstrainedName(uri: text).map { .host($0) } ?? .incomparable
        case .mail(let text): mail(text)
        case .directory(let name): .directory(name)
        case .address(let address): address.count == 4 || address.count == 16 ? .address(address) : .incomparable
        case .other: .incomparable
        }
    }

    private static func mail(_ text: String) -> Form {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let host = ConstrainedName(dns: Substring(parts[1])),
            !host.isWildcard
        else { return .incomparable }
        return .mail(local: Array(parts[0]), host: host)
    }
}

/// A subtree permitted or excluded by a constraint, decoded once (RFC 5280 §4.2.1.10).
struct NameSubtree: Sendable {
    enum Base: Sendable {
        /// A host name in lower case. For email and URIs it may start with a dot.
        case host([UInt8])
        case mailbox(local: [UInt8], host: [UInt8])
        case directory(DistinguishedName)
        /// An address and a mask with the same length.
        case network([UInt8])
        /// A name type that this library does not compare: the constraint excludes all such names.
        case other
    }

    let base: Base
    let byteCount: Int

    init(_ name: GeneralName) throws(DERError) {
        byteCount = name.byteCount
        switch name {
        case .dns(let text):
            // Only email and URI constraints may start with a dot.
            guard text.utf8.first != UInt8(ascii: ".") else {
                throw DERError("a DNS name constraint starts with a dot, §4.2.1.10")
            }
            base = .host(ConstrainedName.lower(text))
        case .uri(let text): base = .host(ConstrainedName.lower(text))
        case .mail(let text):
            let parts = text.utf8.split(separator: UInt8(ascii: "@"), maxSplits: 2, omittingEmptySubsequences: false)
            // The local part of an email address is case-sensitive; the host is not.
            base =
                parts.count == 2
                ? .mailbox(local: Array(parts[0]), host: ConstrainedName.lower(Substring(parts[1])))
                : .host(ConstrainedName.lower(text))
        case .directory(let name): base = .directory(name)
        case .address(let network):
            try Self.checkMask(network)
            base = .network(network)
        case .other: base = .other
        }
    }

    /// Checks an address and a mask with the same length. In the mask, all 1 bits must precede all 0 bits.
    private static func checkMask(_ network: [UInt8]) throws(DERError) {
        guard network.count == 8 || network.count == 32 else {
            throw DERError("an address constraint has an invalid length")
        }
        let mask = network.suffix(network.count / 2)
        let ones = mask.reduce(0) { $0 + $1.nonzeroBitCount }
        let wholeBytes = mask.prefix { $0 == 0xff }.count
        let partial: UInt8 = mask.first { $0 != 0xff } ?? 0
        guard ones == wholeBytes * 8 + (~partial).leadingZeroBitCount else {
            throw DERError("an address constraint has a non-contiguous mask")
        }
    }

    // MARK: Comparison

    /// Returns whether the name, or any name matched by its wildcard, is in the subtree.
    func excludes(_ name: ComparableName) -> Bool {
        if case (.host(let host), .host(let base), true) = (name.form, base, name.name.kind == GeneralName.dnsKind) {
            return host.mayLie(in: base)
        }
        return contains(name) ?? true
    }

    /// Returns whether the name, or every name matched by its wildcard, is in the subtree.
    func permits(_ name: ComparableName) -> Bool {
        if case (.host(let host), .host(let base), true) = (name.form, base, name.name.kind == GeneralName.dnsKind) {
            return host.lies(in: base)
        }
        return contains(name) ?? false
    }

    /// Returns whether the name is in the subtree. Returns `nil` if the name cannot be compared with the subtree.
    private func contains(_ name: ComparableName) -> Bool? {
        switch (name.form, base) {
        case (.host(let host), .host(let base)): host.isOf(hostOrDomain: base)
        case (.mail(_, let host), .host(let base)): host.isOf(hostOrDomain: base)
        case (.mail(let local, let host), .mailbox(let wantedLocal, let wantedHost)):
            local == wantedLocal && host.isOf(hostOrDomain: wantedHost)
        case (.directory(let name), .directory(let base)): name.parts.starts(with: base.parts)
        case (.address(let address), .network(let network)): Self.isAddress(address, in: network)
        default: nil
        }
    }

    private static func isAddress(_ address: [UInt8], in network: [UInt8]) -> Bool {
        guard network.count == 2 * address.count else { return false }
        return address.indices.allSatisfy { index in
            let mask = network[address.count + index]
            return address[index] & mask == network[index] & mask
        }
    }
}

extension GeneralName {
    static let dnsKind: UInt8 = 2

    /// The length in bytes of the name's text or value.
    fileprivate var byteCount: Int {
        switch self {
        case .mail(let text), .dns(let text), .uri(let text): text.utf8.count
        case .directory(let name): name.parts.reduce(0) { $0 + $1.count }
        case .address(let address): address.count
        case .other: 0
        }
    }
}
