/// Searches for a valid chain from the peer's certificate to an anchor (RFC 4158, RFC 5280 §6.1).
///
/// The search tries all paths until it finds a valid path. This is necessary because a peer may send certificates in
/// any order. In addition, authorities may cross-sign each other, so there can be both an expired path and a valid
/// path.
///
/// The work is limited for any input: see ``VerificationBudget``.
struct ChainSearch {
    private let rules: CertificateRules
    private var certificates: CandidateCertificates
    /// The error from the peer's first malformed certificate.
    private let unreadable: TrustFailure?

    private var budget = VerificationBudget()
    /// The results of signature checks. The key contains the index of the checked certificate (child) and the index of
    /// its issuer.
    private var checked: [Link: Bool] = [:]
    /// The names to compare with name constraints, for each certificate. The key is the certificate's index.
    private var comparableNames: [Int: [ComparableName]] = [:]
    private var worst: (rank: Rank, failure: TrustFailure)?

    private struct Link: Hashable { let child, issuer: Int }

    /// How far the search came on a certificate path before it failed. The search reports the failure on the path that
    /// came furthest.
    private enum Rank: Int { case noIssuer, unreadable, badIssuer, wholeChain, gaveUp }

    /// The maximum number of authorities between the peer's certificate and the anchor.
    private static let maximumIntermediates = 8

    init(
        _ leaf: ParsedCertificate, others: [ParsedCertificate], unreadable: TrustFailure?, anchors: TrustStore,
        rules: CertificateRules
    ) {
        certificates = CandidateCertificates(leaf, others, anchors: anchors)
        self.unreadable = unreadable
        self.rules = rules
    }

    /// Runs the search.
    ///
    /// - Returns: The chain from the peer's own certificate to the anchor.
    /// - Throws: The failure on the path that came furthest.
    mutating func run() throws(TrustFailure) -> [ParsedCertificate] {
        // If the peer's certificate is itself a trust anchor, it needs no issuer.
        if certificates.isKnownAsAnchor(0) {
            if let failure = failure(of: [0]) { throw failure }
            return [certificates[0]]
        }
        if let chain = extend([0]) { return chain.map { certificates[$0] } }
        throw worst?.failure ?? TrustFailure(.unknownIssuer, certificates[0].certificate, depth: 0)
    }

    // MARK: Searching

    /// Extends a certificate path until it reaches a trust anchor. Returns `nil` if this is not possible.
    ///
    /// - Parameter path: The indices of the certificates on the path so far. The first is the peer's own certificate.
    private mutating func extend(_ path: [Int]) -> [Int]? {
        let current = path[path.count - 1]
        guard budget.spend(.step) else { return giveUp("too many possible chains") }
        var hasCandidate = false
        for number in certificates.issuers(of: current) {
            if certificates.isAnchor(number) {
                hasCandidate = true
                guard canSign(path, number) else { continue }
                guard let failure = failure(of: path + [number]) else { return path + [number] }
                note(.wholeChain, failure)
            } else {
                guard !certificates.isKnownAsAnchor(number),
                    !path.contains(where: { certificates.haveSameHolder($0, number) })
                else { continue }
                hasCandidate = true
                guard canSign(path, number) else { continue }
                if let chain = extend(path + [number]) { return chain }
            }
        }
        if !hasCandidate { noteMissingIssuer(of: current, at: path.count - 1) }
        return nil
    }

    /// Returns whether certificate `number` was permitted to sign the last certificate in `path`, and did sign it. The
    /// permission is checked first, because a signature check is expensive.
    private mutating func canSign(_ path: [Int], _ number: Int) -> Bool {
        let issuer = certificates[number]
        let (depth, isAnchor) = (path.count, certificates.isAnchor(number))
        if let objection = rules.objection(toIssuer: issuer, isAnchor: isAnchor) {
            note(.badIssuer, TrustFailure(objection.rule, issuer.certificate, depth: depth, detail: objection.detail))
            return false
        }
        // The path length limit does not count self-issued certificates (RFC 5280 §6.1.4 (l)).
        let below = path.dropFirst().count { !certificates[$0].fields.isSelfIssued }
        if let limit = issuer.fields.extensions.basicConstraints?.pathLength, below > limit {
            note(
                .wholeChain,
                TrustFailure(.chainTooLong, issuer.certificate, depth: depth, detail: "path length \(limit)"))
            return false
        }
        if !isAnchor, path.count > Self.maximumIntermediates {
            note(.wholeChain, TrustFailure(.chainTooLong, issuer.certificate, depth: depth))
            return false
        }
        return isSigned(path, issuer, number)
    }

    private mutating func isSigned(_ path: [Int], _ issuer: ParsedCertificate, _ number: Int) -> Bool {
        let link = Link(child: path[path.count - 1], issuer: number)
        let child = certificates[link.child]
        guard let key = issuer.key else {
            note(.badIssuer, TrustFailure(.weakKey, issuer.certificate, depth: path.count, detail: issuer.keyProblem))
            return false
        }
        let isSigned: Bool
        if let known = checked[link] {
            isSigned = known
        } else {
            guard budget.spend(.signature(key, byteCount: child.der.count)) else {
                giveUp("too many signatures to check")
                return false
            }
            isSigned = child.isSigned(by: issuer)
            checked[link] = isSigned
        }
        if !isSigned { noteForeignKey(child, issuer, at: path) }
        return isSigned
    }

    /// Records that a signature check has failed.
    ///
    /// If the key identifiers differ, `issuer` is not the right authority, although its name is the same. In that case,
    /// the failure states that the issuer is missing.
    private mutating func noteForeignKey(_ child: ParsedCertificate, _ issuer: ParsedCertificate, at path: [Int]) {
        let wanted = child.fields.extensions.keyIdentifiers.authority
        let own = issuer.fields.extensions.keyIdentifiers.subject
        if let wanted, let own, wanted != own {
            noteMissingIssuer(of: path[path.count - 1], at: path.count - 1)
        } else {
            note(.badIssuer, TrustFailure(.badSignature, child.certificate, depth: path.count - 1))
        }
    }

    // MARK: A whole chain

    /// Returns the first violation in a complete chain, or `nil`.
    private mutating func failure(of numbers: [Int]) -> TrustFailure? {
        let chain = numbers.map { certificates[$0] }
        guard budget.spend(.chain(byteCount: chain.reduce(0) { $0 + $1.der.count })) else {
            return TrustFailure(.tooComplex, chain[0].certificate, depth: 0, detail: "too many complete chains")
        }
        for (depth, parsed) in chain.enumerated() {
            let isAnchor = depth == chain.count - 1
            if let objection = rules.objection(to: parsed, isLeaf: depth == 0, isAnchor: isAnchor) {
                return TrustFailure(objection.rule, parsed.certificate, depth: depth, detail: objection.detail)
            }
        }
        if let failure = constraintFailure(of: numbers, chain) { return failure }
        guard let objection = PolicyCheck.objection(to: chain) else { return nil }
        return TrustFailure(
            objection.isUnreadable ? .malformed : .policy, chain[objection.depth].certificate, depth: objection.depth,
            detail: objection.isUnreadable ? "malformed policies" : nil)
    }

    /// Compares each certificate's names with the constraints from all authorities above it (RFC 5280 §6.1.3 (b), (c)).
    private mutating func constraintFailure(of numbers: [Int], _ chain: [ParsedCertificate]) -> TrustFailure? {
        for (depth, parsed) in chain.enumerated() {
            // Check no name constraints for self-issued certificates. The peer's own certificate is the exception.
            guard depth == 0 || !parsed.fields.isSelfIssued else { continue }
            let above = chain[(depth + 1)...].compactMap(\.fields.extensions.nameConstraints)
            guard !above.isEmpty else { continue }
            let names = names(of: numbers[depth])
            for constraints in above {
                switch constraints.objection(to: names, work: &budget.comparedBytes) {
                case .none: continue
                case .notAllowed(let name):
                    return TrustFailure(.nameConstraint, parsed.certificate, depth: depth, detail: Self.text(name))
                case .tooMany:
                    return TrustFailure(.tooComplex, parsed.certificate, depth: depth, detail: "names and constraints")
                }
            }
        }
        return nil
    }

    private mutating func names(of number: Int) -> [ComparableName] {
        if let known = comparableNames[number] { return known }
        let fields = certificates[number].fields
        var names = fields.extensions.alternativeNames?.names ?? []
        if !names.contains(where: { $0.kind == 1 }) { names += fields.subject.mailAddresses.map { .mail($0) } }
        if !fields.subject.isEmpty { names.append(.directory(fields.subject)) }
        let result = names.map { ComparableName($0) }
        comparableNames[number] = result
        return result
    }

    private static func text(_ name: GeneralName) -> String? {
        switch name {
        case .dns(let text), .mail(let text), .uri(let text): text
        case .address(let bytes): ReferenceName.address(bytes).description
        case .directory: "its subject"
        case .other: "another type of name"
        }
    }

    // MARK: Failures

    private mutating func note(_ rank: Rank, _ failure: @autoclosure () -> TrustFailure) {
        if let worst, worst.rank.rawValue >= rank.rawValue { return }
        worst = (rank, failure())
    }

    private mutating func noteMissingIssuer(of number: Int, at depth: Int) {
        if let unreadable { note(.unreadable, unreadable) }
        let certificate = certificates[number]
        note(.noIssuer, Self.missingIssuer(of: certificate, at: depth))
    }

    private static func missingIssuer(of certificate: ParsedCertificate, at depth: Int) -> TrustFailure {
        let isSelfSigned = depth == 0 && certificate.fields.isSelfIssued
        let detail =
            certificate.fields.isSelfIssued
            ? (depth > 0 ? "the peer's chain ends here" : nil) : "the issuer is \"\(certificate.certificate.issuer)\""
        return TrustFailure(
            isSelfSigned ? .selfSigned : .unknownIssuer, certificate.certificate, depth: depth, detail: detail)
    }

    @discardableResult
    private mutating func giveUp(_ reason: String) -> [Int]? {
        let leaf = certificates[0].certificate
        note(.gaveUp, TrustFailure(.tooComplex, leaf, depth: 0, detail: reason))
        return nil
    }
}
