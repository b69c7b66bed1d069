/// Checks certificate policies if an authority in the chain requires an explicit policy (RFC 5280 §6.1; policy sets as in RFC 9618).
///
/// The program itself requires no policy, so only an authority's constraints can make the check fail.
struct PolicyCheck {
    typealias Policy = ArraySlice<UInt8>

    /// Object identifier 2.5.29.32.0 (anyPolicy).
    private static let any: Policy = [0x55, 0x1d, 0x20, 0x00]

    /// The policies that the next certificate may contain. If this set is empty and `expectsAny` is `false`, no policy
    /// is valid for the whole chain.
    private var expected: Set<Policy> = []
    private var expectsAny = true
    /// Each counter is the number of certificates that may still follow before a restriction applies. In this order,
    /// the restrictions are: a valid policy is required, policy mappings are forbidden, and anyPolicy is forbidden (RFC
    /// 5280 §6.1.2).
    private var untilExplicit: Int
    private var untilUnmapped: Int
    private var untilUnwild: Int

    /// Returns the depth at which a certificate first violates the policy constraints, or `nil`. `chain` starts with
    /// the peer's certificate.
    static func objection(to chain: [ParsedCertificate]) -> (depth: Int, isUnreadable: Bool)? {
        let certificates = chain.dropLast()
        guard certificates.contains(where: { $0.fields.extensions.policy.constraints != nil }) else { return nil }
        var check = PolicyCheck(count: certificates.count)
        for (depth, parsed) in certificates.enumerated().reversed() {
            do throws(DERError) {
                guard try check.accepts(parsed.fields, isLeaf: depth == 0) else { return (depth, false) }
            } catch {
                return (depth, true)
            }
        }
        return nil
    }

    private init(count: Int) { (untilExplicit, untilUnmapped, untilUnwild) = (count + 1, count + 1, count + 1) }

    private var hasNone: Bool { expected.isEmpty && !expectsAny }

    private mutating func accepts(_ fields: CertificateFields, isLeaf: Bool) throws(DERError) -> Bool {
        let extensions = fields.extensions
        let mayBeWild = untilUnwild > 0 || !isLeaf && fields.isSelfIssued
        narrow(to: try extensions.policy.policies.map(Self.policies) ?? [], mayBeWild: mayBeWild)
        if isLeaf {
            untilExplicit = max(0, untilExplicit - 1)
            try readConstraints(extensions.policy)
            return untilExplicit > 0 || !hasNone
        }
        guard untilExplicit > 0 || !hasNone else { return false }
        guard try map(extensions.policy.mappings) else { return false }
        if !fields.isSelfIssued {
            untilExplicit = max(0, untilExplicit - 1)
            untilUnmapped = max(0, untilUnmapped - 1)
            untilUnwild = max(0, untilUnwild - 1)
        }
        try readConstraints(extensions.policy)
        return true
    }

    /// Processes the certificate policies (RFC 5280 §4.2.1.4, §6.1.3 (d), (e)).
    private mutating func narrow(to named: Set<Policy>, mayBeWild: Bool) {
        var next = named.filter { $0 != Self.any && (expectsAny || expected.contains($0)) }
        let isWild = named.contains(Self.any) && mayBeWild
        if isWild { next.formUnion(expected) }
        expected = next
        expectsAny = expectsAny && isWild
    }

    /// Applies the authority's policy mappings (RFC 5280 §4.2.1.5, §6.1.4 (a), (b)).
    private mutating func map(_ value: ArraySlice<UInt8>?) throws(DERError) -> Bool {
        guard let value else { return true }
        var others: [Policy: Set<Policy>] = [:]
        try DERReader.all(try Self.single(value)) { reader throws(DERError) in
            var pair = DERReader(try reader.next(DERTag.sequence))
            let own = try pair.next(DERTag.identifier)
            others[own, default: []].insert(try pair.next(DERTag.identifier))
            try pair.end()
        }
        guard others[Self.any] == nil, !others.values.contains(where: { $0.contains(Self.any) }) else { return false }
        let mapped = others.keys.filter { expected.contains($0) || expectsAny }
        expected.subtract(mapped)
        if untilUnmapped > 0 { for own in mapped { expected.formUnion(others[own] ?? []) } }
        return true
    }

    /// Processes the policy constraints (RFC 5280 §6.1.4 (i), (j) and §6.1.5 (b)).
    private mutating func readConstraints(_ policy: CertificateExtensions.Policy) throws(DERError) {
        if let value = policy.constraints?.value {
            var reader = DERReader(try Self.single(value))
            guard !reader.isAtEnd else { throw DERError("empty policy constraints") }
            if reader.nextTag == 0x80 { untilExplicit = min(untilExplicit, try reader.smallNumber(0x80)) }
            if reader.nextTag == 0x81 { untilUnmapped = min(untilUnmapped, try reader.smallNumber(0x81)) }
            try reader.end()
        }
        if let value = policy.inhibitAny {
            var reader = DERReader(value)
            untilUnwild = min(untilUnwild, try reader.smallNumber())
            try reader.end()
        }
    }

    private static func policies(_ value: ArraySlice<UInt8>) throws(DERError) -> Set<Policy> {
        var result: Set<Policy> = []
        try DERReader.all(try single(value)) { reader throws(DERError) in
            var policy = DERReader(try reader.next(DERTag.sequence))
            result.insert(try policy.next(DERTag.identifier))
        }
        return result
    }

    private static func single(_ value: ArraySlice<UInt8>) throws(DERError) -> ArraySlice<UInt8> {
        var reader = DERReader(value)
        let content = try reader.next(DERTag.sequence)
        try reader.end()
        return content
    }
}
