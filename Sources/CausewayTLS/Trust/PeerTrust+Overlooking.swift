// Certificate validation with exceptions that a user or program has accepted for one certificate. Each exception covers
// one rule. A violation of another rule, or by another certificate, still fails.

extension PeerTrust {
    /// Validates like ``evaluate()``, but ignores violations of `rules`.
    ///
    /// - Throws: The first violation of another rule, or a violation that cannot be ignored.
    package func evaluate(overlooking rules: Set<TrustFailure.Rule>) throws(TrustFailure) -> [Certificate] {
        try evaluateOverlooking { rules.contains($0) }
    }

    /// The violated rules that ``evaluate(overlooking:)`` can ignore. The search ends at the first violation that
    /// cannot be ignored.
    package var faults: Set<TrustFailure.Rule> {
        var faults: Set<TrustFailure.Rule> = []
        _ = try? evaluateOverlooking { rule in
            faults.insert(rule)
            return true
        }
        return faults
    }

    private func evaluateOverlooking(_ isOverlooked: (TrustFailure.Rule) -> Bool) throws(TrustFailure) -> [Certificate]
    {
        var question = self
        var overlooked: Set<TrustFailure.Rule> = []
        while true {
            do throws(TrustFailure) {
                return try question.evaluate()
            } catch {
                // The settings now say to ignore this rule. If evaluation still reports a violation of it, report the
                // failure.
                guard !overlooked.contains(error.rule), let next = question.overlooking(error),
                    isOverlooked(error.rule)
                else { throw error }
                overlooked.insert(error.rule)
                question = next
            }
        }
    }

    /// Returns a copy of this value whose settings permit the given violation.
    ///
    /// Returns `nil` if the violation can never be permitted. This is the case for a malformed certificate, an insecure
    /// key, a revocation, and the program's own requirements.
    private func overlooking(_ failure: TrustFailure) -> PeerTrust? {
        guard let leaf = certificates.first else { return nil }
        switch failure.rule {
        case .noAlternativeName, .nameMismatch, .notAHostName:
            return PeerTrust(
                certificates: certificates, role: role, reference: reference, isNameChecked: false, settings: settings)
        case .expired where failure.depth == 0: return evaluated(at: leaf.notAfter)
        case .notYetValid where failure.depth == 0: return evaluated(at: leaf.notBefore)
        case .unknownIssuer, .selfSigned, .badSignature, .nameConstraint, .policy, .chainTooLong, .notAnAuthority:
            return trustingLeaf(leaf)
        case .expired, .notYetValid, .weakKey, .weakSignature, .wrongPurpose, .criticalExtension, .malformed,
            .authorityAsLeaf:
            // If the violation concerns an issuer, the leaf can be trusted directly, because a trusted leaf needs no
            // issuer.
            return failure.depth == 0 ? nil : trustingLeaf(leaf)
        case .noCertificate, .pinMismatch, .stapleMissing, .revoked, .tooComplex: return nil
        }
    }

    private func evaluated(at time: Int64) -> PeerTrust {
        var settings = settings
        settings.time = time
        return applying(settings)
    }

    private func trustingLeaf(_ leaf: Certificate) -> PeerTrust {
        var settings = settings
        settings.anchors.append(leaf)
        return applying(settings)
    }
}
