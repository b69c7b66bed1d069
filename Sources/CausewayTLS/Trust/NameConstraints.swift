/// What names an authority may sign (RFC 5280 §4.2.1.10).
struct NameConstraints: Sendable {
    let permitted: [GeneralName]
    let excluded: [GeneralName]

    /// - Parameter content: What is inside the SEQUENCE.
    init(_ content: ArraySlice<UInt8>) throws(DERError) {
        var reader = DERReader(content)
        permitted = try reader.optional(0xa0).map { content throws(DERError) in try Self.trees(content) } ?? []
        excluded = try reader.optional(0xa1).map { content throws(DERError) in try Self.trees(content) } ?? []
        try reader.end()
        guard !permitted.isEmpty || !excluded.isEmpty else { throw DERError("the constraints on names are empty") }
    }

    private static func trees(_ content: ArraySlice<UInt8>) throws(DERError) -> [GeneralName] {
        var result: [GeneralName] = []
        try DERReader.all(content) { reader throws(DERError) in
            var tree = DERReader(try reader.next(DERTag.sequence))
            let base = try GeneralName(try tree.next())
            // The profile has no depths: what says one is not what this authority may sign.
            try tree.end()
            if case .address(let octets) = base { try checkMask(octets) }
            result.append(base)
        }
        guard !result.isEmpty else { throw DERError("a constraint on names is empty") }
        return result
    }

    /// An address and a mask as long, whose ones come first.
    private static func checkMask(_ octets: [UInt8]) throws(DERError) {
        guard octets.count == 8 || octets.count == 32 else {
            throw DERError("a constraint on addresses has another length")
        }
        let mask = octets.suffix(octets.count / 2)
        let ones = mask.reduce(0) { $0 + $1.nonzeroBitCount }
        let wholeOctets = mask.prefix { $0 == 0xff }.count
        let partial: UInt8 = mask.first { $0 != 0xff } ?? 0
        guard ones == wholeOctets * 8 + (~partial).leadingZeroBitCount else {
            throw DERError("a constraint on addresses has a mask with holes")
        }
    }

    /// How many comparisons of a name with a constraint one judgement may take: more are a way to make us work.
    static let mostComparisons = 100_000

    /// Why these names may not be signed; `nil` if they may.
    ///
    /// - Parameter comparisons: What is left of ``mostComparisons``.
    func objection(to names: [GeneralName], comparisons: inout Int) -> Objection? {
        comparisons -= names.count * (permitted.count + excluded.count)
        guard comparisons >= 0 else { return .tooMany }
        for name in names {
            if excluded.contains(where: { $0.kind == name.kind && Self.isExcluded(name, by: $0) }) {
                return .notAllowed(name)
            }
            let own = permitted.filter { $0.kind == name.kind }
            if !own.isEmpty, !own.contains(where: { Self.isPermitted(name, by: $0) }) { return .notAllowed(name) }
        }
        return nil
    }

    enum Objection {
        case notAllowed(GeneralName)
        case tooMany
    }

    // MARK: One name, one constraint

    /// A name that cannot be understood is excluded by any constraint of its kind, and permitted by none.
    private static func isExcluded(_ name: GeneralName, by base: GeneralName) -> Bool {
        switch (name, base) {
        case (.dns(let name), .dns(let base)): ConstrainedName(dns: name)?.mayLie(in: base) ?? true
        case (.uri(let uri), .uri(let base)): ConstrainedName(uri: uri)?.isOf(hostOrDomain: base) ?? true
        case (.mail(let mail), .mail(let base)): isMail(mail, in: base) ?? true
        case (.directory(let name), .directory(let base)): name.parts.starts(with: base.parts)
        case (.address(let address), .address(let base)): isAddress(address, in: base) ?? true
        default: true
        }
    }

    private static func isPermitted(_ name: GeneralName, by base: GeneralName) -> Bool {
        switch (name, base) {
        case (.dns(let name), .dns(let base)): ConstrainedName(dns: name)?.lies(in: base) ?? false
        case (.uri(let uri), .uri(let base)): ConstrainedName(uri: uri)?.isOf(hostOrDomain: base) ?? false
        case (.mail(let mail), .mail(let base)): isMail(mail, in: base) ?? false
        case (.directory(let name), .directory(let base)): name.parts.starts(with: base.parts)
        case (.address(let address), .address(let base)): isAddress(address, in: base) ?? false
        default: false
        }
    }

    /// `nil` for what is no address.
    private static func isAddress(_ address: [UInt8], in base: [UInt8]) -> Bool? {
        guard address.count == 4 || address.count == 16 else { return nil }
        guard base.count == 2 * address.count else { return false }
        return zip(address, zip(base, base.suffix(address.count))).allSatisfy { octet, pair in
            octet & pair.1 == pair.0 & pair.1
        }
    }

    /// `nil` for what is no address.
    private static func isMail(_ mail: String, in base: String) -> Bool? {
        let parts = mail.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let host = ConstrainedName(dns: String(parts[1])), !host.isWildcard
        else {
            return nil
        }
        let wanted = base.split(separator: "@", omittingEmptySubsequences: false)
        guard wanted.count == 2 else { return host.isOf(hostOrDomain: base) }
        // The part before the sign may be told apart by case, the host not.
        return parts[0].utf8.elementsEqual(wanted[0].utf8) && host.isOf(hostOrDomain: String(wanted[1]))
    }
}
