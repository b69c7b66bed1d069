// What somebody has decided to overlook in one certificate. Each fault by itself: another one, or the same in another certificate,
// is as bad as before.

extension PeerTrust {
    /// Judges like ``evaluate()``, but for rules that may be broken.
    ///
    /// - Throws: The first rule that was broken and is not among them, or that nothing makes good.
    package func evaluate(overlooking rules: Set<TrustFailure.Rule>) throws(TrustFailure) -> [Certificate] {
        try judge { rules.contains($0) }
    }

    /// The rules that ``evaluate(overlooking:)`` would have to overlook, as far as that can be.
    package var faults: Set<TrustFailure.Rule> {
        var faults: Set<TrustFailure.Rule> = []
        _ = try? judge { rule in
            faults.insert(rule)
            return true
        }
        return faults
    }

    private func judge(_ isOverlooked: (TrustFailure.Rule) -> Bool) throws(TrustFailure) -> [Certificate] {
        var question = self
        var overlooked: Set<TrustFailure.Rule> = []
        while true {
            do throws(TrustFailure) {
                return try question.evaluate()
            } catch {
                // What was made good and is wrong all the same is not asked about again.
                guard !overlooked.contains(error.rule), let next = question.overlooking(error),
                    isOverlooked(error.rule)
                else { throw error }
                overlooked.insert(error.rule)
                question = next
            }
        }
    }

    /// The question to which this fault makes no difference. `nil` where there is none: a certificate that cannot be read, a key that
    /// anybody can compute, a revocation, and what the program itself demands.
    private func overlooking(_ failure: TrustFailure) -> PeerTrust? {
        guard let leaf = certificates.first else { return nil }
        switch failure.rule {
        case .noAlternativeName, .nameMismatch, .notAHostName:
            return PeerTrust(
                certificates: certificates, role: role, reference: reference, isNameChecked: false, settings: settings)
        case .expired where failure.depth == 0: return judged(at: leaf.notAfter)
        case .notYetValid where failure.depth == 0: return judged(at: leaf.notBefore)
        case .unknownIssuer, .selfSigned, .badSignature, .nameConstraint, .policy, .chainTooLong, .notAnAuthority:
            return trustingLeaf(leaf)
        case .expired, .notYetValid, .weakKey, .weakSignature, .wrongPurpose, .criticalExtension, .malformed,
            .authorityAsLeaf:
            // Of those above it, who is trusted by certificate needs none.
            return failure.depth == 0 ? nil : trustingLeaf(leaf)
        case .noCertificate, .pinMismatch, .stapleMissing, .revoked, .tooComplex: return nil
        }
    }

    private func judged(at time: Int64) -> PeerTrust {
        var settings = settings
        settings.time = time
        return judged(by: settings)
    }

    private func trustingLeaf(_ leaf: Certificate) -> PeerTrust {
        var settings = settings
        settings.anchors.append(leaf)
        return judged(by: settings)
    }
}
