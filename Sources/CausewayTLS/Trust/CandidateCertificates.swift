/// The certificates from which chains are built, by index: the peer's own certificate has index 0, the peer's other
/// certificates follow, and anchors are added when their name is first looked up.
///
/// Names and keys are compared once, when a certificate is added, not at each search step.
struct CandidateCertificates {
    private struct Facts {
        var subject: Int
        var issuer: Int
        var key: Int
        var isAnchor: Bool
        /// Whether the trust store also contains this certificate as an anchor.
        var isKnownAsAnchor = false
    }

    private(set) var all: [ParsedCertificate] = []
    private let anchors: TrustStore
    private var facts: [Facts] = []
    private var names: [DistinguishedName: Int] = [:]
    private var keys: [ArraySlice<UInt8>: Int] = [:]
    /// The peer's other certificates, by subject name: each value lists certificate indices.
    private var sent: [Int: [Int]] = [:]
    private var anchorsByName: [Int: [Int]] = [:]
    private var issuers: [Int: [Int]] = [:]

    init(_ leaf: ParsedCertificate, _ others: [ParsedCertificate], anchors: TrustStore) {
        self.anchors = anchors
        for certificate in [leaf] + others {
            let number = add(certificate, isAnchor: false)
            facts[number].isKnownAsAnchor = anchors.contains(certificate)
            if number > 0 { sent[facts[number].subject, default: []].append(number) }
        }
    }

    subscript(number: Int) -> ParsedCertificate { all[number] }

    func isAnchor(_ number: Int) -> Bool { facts[number].isAnchor }
    func isKnownAsAnchor(_ number: Int) -> Bool { facts[number].isKnownAsAnchor }

    /// Returns whether both certificates have the same subject and key. Issuers and validity periods may differ.
    func haveSameHolder(_ a: Int, _ b: Int) -> Bool {
        facts[a].subject == facts[b].subject && facts[a].key == facts[b].key
    }

    /// Returns the certificates that may have issued `child`, because their subject is the issuer of `child`. Anchors
    /// come first, then certificates from the peer. Among the latter, certificates with a matching key identifier come
    /// first.
    mutating func issuers(of child: Int) -> [Int] {
        if let known = issuers[child] { return known }
        let name = facts[child].issuer
        let found = anchors(named: name, all[child].fields.issuer) + candidates(named: name, child)
        issuers[child] = found
        return found
    }

    private mutating func anchors(named number: Int, _ name: DistinguishedName) -> [Int] {
        if let known = anchorsByName[number] { return known }
        let found = anchors.anchors(named: name).map { add($0, isAnchor: true) }
        anchorsByName[number] = found
        return found
    }

    private func candidates(named name: Int, _ child: Int) -> [Int] {
        let named = sent[name] ?? []
        let wanted = all[child].fields.extensions.keyIdentifiers.authority
        let isRight = { all[$0].fields.extensions.keyIdentifiers.subject == wanted }
        return named.filter(isRight) + named.filter { !isRight($0) }
    }

    private mutating func add(_ certificate: ParsedCertificate, isAnchor: Bool) -> Int {
        all.append(certificate)
        facts.append(
            Facts(
                subject: Self.number(of: certificate.fields.subject, &names),
                issuer: Self.number(of: certificate.fields.issuer, &names),
                key: Self.number(of: certificate.fields.publicKey, &keys), isAnchor: isAnchor))
        return all.count - 1
    }

    private static func number<Value: Hashable>(of value: Value, _ numbers: inout [Value: Int]) -> Int {
        if let known = numbers[value] { return known }
        let number = numbers.count
        numbers[value] = number
        return number
    }
}
