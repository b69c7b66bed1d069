internal import CausewayTLS
internal import CausewayTypes
internal import CausewayWire
public import FoundationEssentials

/// The rule violations that the user has accepted for one certificate, grouped by policy.
package struct TrustExceptions: Hashable, Sendable {
    /// The ``Certificate/fingerprint`` of the leaf certificate.
    let fingerprint: [UInt8]
    /// The violated rules for each policy. The key is ``SecPolicy/question``; policies without violations are not listed.
    let faults: [String: Set<TrustFailure.Rule>]

    private static let heading = "causeway-trust-exceptions 1"
    private static let ending = "end"

    init(fingerprint: [UInt8], faults: [String: Set<TrustFailure.Rule>]) {
        self.fingerprint = fingerprint
        self.faults = faults
    }

    /// Decodes data in the format of ``encoded``; `nil` if the data has another format.
    init?(_ data: Data) {
        guard let text = String(data: data, encoding: .utf8) else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst().map(String.init) == Self.heading, let digest = lines.popFirst(), digest.utf8.count == 64,
            lines.popLast() == "", lines.popLast().map(String.init) == Self.ending
        else { return nil }
        guard let bytes = Hexadecimal.bytes(digest) else { return nil }
        var faults: [String: Set<TrustFailure.Rule>] = [:]
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let rule = Self.rules[String(words[0])] else { return nil }
            faults[String(words[1]), default: []].insert(rule)
        }
        self.init(fingerprint: bytes, faults: faults)
    }

    var encoded: Data {
        let text = Self.heading + "\n" + Hexadecimal.text(fingerprint)
        let lines = faults.flatMap { question, rules in rules.map { "\($0) \(question)" } }
        return Data((text + "\n" + (lines.sorted() + [Self.ending]).map { $0 + "\n" }.joined()).utf8)
    }

    /// Maps the name of each enum case to its rule. The encoded data contains the names, because they are more readable than numbers.
    private static let rules = Dictionary(
        uniqueKeysWithValues: TrustFailure.Rule.allCases.map { ("\($0)", $0) })
}

extension SecPolicy {
    /// A string that identifies the policy.
    ///
    /// The string contains the host name. So if the user accepts a name mismatch for one host, other hosts are not
    /// affected.
    var question: String {
        switch purpose {
        case .basicX509: "any"
        case .tls(let isServer, let hostName):
            // Remove white space. A line feed would damage the encoded form, and valid host names contain no white
            // space.
            (isServer ? "server " : "client ") + (hostName ?? "").split(whereSeparator: \.isWhitespace).joined()
        }
    }
}

/// Returns the leaf's current violations as data to store; `nil` if there is no valid leaf certificate. Later,
/// ``SecTrustSetExceptions(_:_:)`` with this data accepts the leaf in spite of these violations. The program must ask
/// the user first.
///
/// Violations that cannot be ignored are left out: a malformed certificate, a weak key or digest, a revocation, a pin mismatch.
///
/// Counterpart: macOS 10.9, iOS 4.
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
    let values = trust.values
    guard let leaf = values.certificates.first, let own = try? Certificate(der: [UInt8](leaf.data)) else { return nil }
    var faults: [String: Set<TrustFailure.Rule>] = [:]
    for policy in values.policies {
        guard let found = try? trust.question(policy, values).faults, !found.isEmpty else { continue }
        faults[policy.question] = found
    }
    return TrustExceptions(fingerprint: own.fingerprint, faults: faults).encoded
}

/// Makes later evaluations ignore the violations listed in `exceptions`. This data comes from
/// ``SecTrustCopyExceptions(_:)``, for the same leaf certificate. `nil` or empty data removes the exceptions.
///
/// The evaluation still fails for all other violations. It also fails for the same violations in another host's
/// certificate.
///
/// - Returns: `true` if `exceptions` belongs to the trust object's leaf certificate. Otherwise the function removes all
///   earlier exceptions and returns `false`.
///
/// Counterpart: macOS 10.9, iOS 4.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    let leaf = trust.values.certificates.first.flatMap { try? Certificate(der: [UInt8]($0.data)) }
    let read = exceptions.flatMap { TrustExceptions($0) }
    let fitting = read.flatMap { $0.fingerprint == leaf?.fingerprint ? $0 : nil }
    trust.update { $0.exceptions = fitting }
    return fitting != nil
}

/// Dictionary key: the time of the evaluation.
public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
/// Dictionary key: the result, as the raw value of a ``SecTrustResultType``.
public let kSecTrustResultValue: CFString = "TrustResultValue"

/// Evaluates the trust object, and returns the result and the time.
///
/// Counterpart: macOS 10.9, iOS 7. Apple's dictionary has more keys, for checks that this library does not make.
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    var result = SecTrustResultType.invalid
    SecTrustEvaluate(trust, &result)
    return [kSecTrustEvaluationDate: Date(), kSecTrustResultValue: Int(result.rawValue)]
}
