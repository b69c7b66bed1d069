/// Finds a chain from the peer's certificate to an anchor that breaks no rule (RFC 4158, RFC 5280 §6.1).
///
/// Every way is tried until one holds, because a peer may send certificates in any order and authorities sign each other: one
/// chain that has expired says nothing about the next. Work is bounded whatever the peer sends.
struct ChainSearch {
    private let rules: CertificateRules
    private let anchors: TrustStore
    private let leaf: JudgedCertificate
    private let others: [JudgedCertificate]
    /// Whether something that the peer sent cannot be read.
    private let unreadable: TrustFailure?

    private var signaturesLeft = mostSignatures
    private var stepsLeft = mostSteps
    private var comparisonsLeft = NameConstraints.mostComparisons
    /// Signatures that were checked, by the numbers of both certificates in `others`; those of anchors are not kept.
    private var checked: [[Int]: Bool] = [:]
    private var worst: (rank: Rank, failure: TrustFailure)?

    /// How far a chain came before it failed: what came furthest is what a person should hear of.
    private enum Rank: Int { case noIssuer, unreadable, badIssuer, wholeChain, gaveUp }

    private static let mostSignatures = 48
    private static let mostSteps = 256
    /// Authorities between the peer's certificate and the anchor.
    private static let mostIntermediates = 8

    init(
        _ leaf: JudgedCertificate, others: [JudgedCertificate], unreadable: TrustFailure?, anchors: TrustStore,
        rules: CertificateRules
    ) {
        self.leaf = leaf
        self.others = others
        self.unreadable = unreadable
        self.anchors = anchors
        self.rules = rules
    }

    /// - Returns: The chain from the peer's own certificate to the anchor.
    /// - Throws: What was wrong with the chain that came furthest.
    mutating func run() throws(TrustFailure) -> [JudgedCertificate] {
        // Whom the program trusts by certificate needs nobody else's word.
        if anchors.contains(leaf) {
            if let failure = failure(of: [leaf]) { throw failure }
            return [leaf]
        }
        if let chain = extend([leaf], []) { return chain }
        throw worst?.failure ?? TrustFailure(.unknownIssuer, leaf.certificate, depth: 0)
    }

    // MARK: Searching

    /// - Parameters:
    ///   - path: From the peer's certificate on.
    ///   - numbers: Which of `others` they are, without the first.
    private mutating func extend(_ path: [JudgedCertificate], _ numbers: [Int]) -> [JudgedCertificate]? {
        stepsLeft -= 1
        guard stepsLeft > 0, let current = path.last else { return giveUp("too many chains could be made of them") }
        var hasCandidate = false
        for anchor in anchors.anchors(named: current.fields.issuer) {
            hasCandidate = true
            guard canSign(path, numbers, anchor, nil) else { continue }
            let chain = path + [anchor]
            guard let failure = failure(of: chain) else { return chain }
            note(.wholeChain, failure)
        }
        for number in candidates(for: current) {
            let candidate = others[number]
            guard !path.contains(where: { $0.isSameHolder(as: candidate) }), !anchors.contains(candidate) else {
                continue
            }
            hasCandidate = true
            guard canSign(path, numbers, candidate, number) else { continue }
            if let chain = extend(path + [candidate], numbers + [number]) { return chain }
        }
        if !hasCandidate { noteMissingIssuer(of: current, at: path.count - 1) }
        return nil
    }

    /// Those that have the name of the issuer, those with the right key first.
    private func candidates(for current: JudgedCertificate) -> [Int] {
        let named = others.indices.filter { others[$0].fields.subject == current.fields.issuer }
        let wanted = current.fields.extensions.authorityKeyIdentifier
        let isRight = { others[$0].fields.extensions.subjectKeyIdentifier == wanted }
        return named.filter(isRight) + named.filter { !isRight($0) }
    }

    /// Whether `issuer` may and did sign the last certificate of `path`.
    private mutating func canSign(
        _ path: [JudgedCertificate], _ numbers: [Int], _ issuer: JudgedCertificate, _ number: Int?
    ) -> Bool {
        let depth = path.count
        if let objection = rules.objection(toIssuer: issuer, isAnchor: number == nil) {
            note(.badIssuer, TrustFailure(objection.rule, issuer.certificate, depth: depth, detail: objection.detail))
            return false
        }
        // RFC 5280 §6.1.4 (l): an authority that signs itself anew does not count.
        let below = path.dropFirst().count { !$0.fields.isSelfIssued }
        if let limit = issuer.fields.extensions.basicConstraints?.pathLength, below > limit {
            note(
                .wholeChain,
                TrustFailure(.chainTooLong, issuer.certificate, depth: depth, detail: "path length \(limit)"))
            return false
        }
        if number != nil, path.count > Self.mostIntermediates {
            note(.wholeChain, TrustFailure(.chainTooLong, issuer.certificate, depth: depth))
            return false
        }
        return isSigned(path, numbers, issuer, number)
    }

    private mutating func isSigned(
        _ path: [JudgedCertificate], _ numbers: [Int], _ issuer: JudgedCertificate, _ number: Int?
    ) -> Bool {
        let pair = number.map { [numbers.last ?? -1, $0] }
        let child = path[path.count - 1]
        let isSigned: Bool
        if let pair, let known = checked[pair] {
            isSigned = known
        } else {
            guard signaturesLeft > 0 else {
                _ = giveUp("too many signatures would have to be checked")
                return false
            }
            signaturesLeft -= 1
            isSigned = child.isSigned(by: issuer)
            if let pair { checked[pair] = isSigned }
        }
        guard !isSigned else { return true }
        // Another key of the same name is no forgery but somebody else.
        let wanted = child.fields.extensions.authorityKeyIdentifier
        let own = issuer.fields.extensions.subjectKeyIdentifier
        if let wanted, let own, wanted != own {
            noteMissingIssuer(of: child, at: path.count - 1)
        } else {
            note(.badIssuer, TrustFailure(.badSignature, child.certificate, depth: path.count - 1))
        }
        return false
    }

    // MARK: A whole chain

    /// The first rule that a complete chain breaks.
    private mutating func failure(of chain: [JudgedCertificate]) -> TrustFailure? {
        for (depth, judged) in chain.enumerated() {
            let isAnchor = depth == chain.count - 1
            if let objection = rules.objection(to: judged, isLeaf: depth == 0, isAnchor: isAnchor) {
                return TrustFailure(objection.rule, judged.certificate, depth: depth, detail: objection.detail)
            }
        }
        if let failure = constraintFailure(of: chain) { return failure }
        guard let objection = PolicyCheck.objection(to: chain) else { return nil }
        return TrustFailure(
            objection.isUnreadable ? .malformed : .policy, chain[objection.depth].certificate, depth: objection.depth,
            detail: objection.isUnreadable ? "its policies cannot be read" : nil)
    }

    /// RFC 5280 §6.1.3 (b), (c): the names of each certificate against the constraints of all above it.
    private mutating func constraintFailure(of chain: [JudgedCertificate]) -> TrustFailure? {
        for (depth, judged) in chain.enumerated() {
            // An authority's certificate for itself is exempt, the peer's own never is.
            guard depth == 0 || !judged.fields.isSelfIssued else { continue }
            let above = chain[(depth + 1)...].compactMap(\.fields.extensions.nameConstraints)
            guard !above.isEmpty else { continue }
            let names = Self.constrainedNames(judged.fields)
            for constraints in above {
                switch constraints.objection(to: names, comparisons: &comparisonsLeft) {
                case .none: continue
                case .notAllowed(let name):
                    return TrustFailure(.nameConstraint, judged.certificate, depth: depth, detail: Self.text(name))
                case .tooMany:
                    return TrustFailure(.tooComplex, judged.certificate, depth: depth, detail: "names and constraints")
                }
            }
        }
        return nil
    }

    private static func constrainedNames(_ fields: CertificateFields) -> [GeneralName] {
        var names = fields.extensions.alternativeNames ?? []
        if !names.contains(where: { $0.kind == 1 }) { names += fields.subject.mailAddresses.map { .mail($0) } }
        if !fields.subject.isEmpty { names.append(.directory(fields.subject)) }
        return names
    }

    private static func text(_ name: GeneralName) -> String? {
        switch name {
        case .dns(let text), .mail(let text), .uri(let text): text
        case .address(let octets): ReferenceName.address(octets).description
        case .directory: "its subject"
        case .other: "a name of another kind"
        }
    }

    // MARK: What went wrong

    private mutating func note(_ rank: Rank, _ failure: TrustFailure) {
        if let worst, worst.rank.rawValue >= rank.rawValue { return }
        worst = (rank, failure)
    }

    private mutating func noteMissingIssuer(of certificate: JudgedCertificate, at depth: Int) {
        if let unreadable { note(.unreadable, unreadable) }
        let isSelfSigned = depth == 0 && certificate.fields.isSelfIssued
        let detail =
            certificate.fields.isSelfIssued
            ? (depth > 0 ? "the peer's chain ends here" : nil) : "the issuer is \"\(certificate.certificate.issuer)\""
        note(
            .noIssuer,
            TrustFailure(
                isSelfSigned ? .selfSigned : .unknownIssuer, certificate.certificate, depth: depth, detail: detail))
    }

    private mutating func giveUp(_ reason: String) -> [JudgedCertificate]? {
        note(.gaveUp, TrustFailure(.tooComplex, leaf.certificate, depth: 0, detail: reason))
        return nil
    }
}
