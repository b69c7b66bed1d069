internal import CausewayTLS
internal import CausewayTypes
public import FoundationEssentials

/// What a person has decided to overlook: in one certificate, asked for by one policy, the rules that it broke then.
package struct TrustExceptions: Hashable, Sendable {
    /// ``Certificate/fingerprint`` of the leaf.
    let fingerprint: [UInt8]
    /// By what was asked; without those that nothing was wrong with.
    let faults: [String: Set<TrustFailure.Rule>]

    private static let heading = "causeway-trust-exceptions 1"
    private static let ending = "end"

    init(fingerprint: [UInt8], faults: [String: Set<TrustFailure.Rule>]) {
        self.fingerprint = fingerprint
        self.faults = faults
    }

    /// The exceptions that ``encoded`` gave; `nil` for anything else.
    init?(_ data: Data) {
        guard let text = String(data: data, encoding: .utf8) else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst().map(String.init) == Self.heading, let digest = lines.popFirst(), digest.utf8.count == 64,
            lines.popLast() == "", lines.popLast().map(String.init) == Self.ending
        else { return nil }
        var bytes: [UInt8] = []
        for pair in stride(from: 0, to: 64, by: 2) {
            guard let byte = UInt8(digest.dropFirst(pair).prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
        }
        var faults: [String: Set<TrustFailure.Rule>] = [:]
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let rule = Self.rules[String(words[0])] else { return nil }
            faults[String(words[1]), default: []].insert(rule)
        }
        self.init(fingerprint: bytes, faults: faults)
    }

    var encoded: Data {
        var text = Self.heading + "\n"
        for byte in fingerprint { text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        let lines = faults.flatMap { question, rules in rules.map { "\($0) \(question)" } }
        return Data((text + "\n" + (lines.sorted() + [Self.ending]).map { $0 + "\n" }.joined()).utf8)
    }

    /// By the names of their cases, which tell more to a reader than numbers.
    private static let rules = Dictionary(
        uniqueKeysWithValues: TrustFailure.Rule.allCases.map { ("\($0)", $0) })
}

extension SecPolicy {
    /// What it asks. A name that was wrong for one host is not forgiven for another.
    var question: String {
        switch purpose {
        case .basicX509: "any"
        case .tls(let isServer, let hostName):
            // No host's name has white space in it.
            (isServer ? "server " : "client ") + (hostName ?? "").split(whereSeparator: \.isWhitespace).joined()
        }
    }
}

/// What is wrong with the leaf now, as bytes to keep: given to ``SecTrustSetExceptions(_:_:)`` later, they let the same leaf pass in spite
/// of it. Whether to overlook it a person decides before that.
///
/// What cannot be overlooked is left out: a certificate that cannot be read, a weak key or digest, a revocation, a pin that does not fit.
///
/// Counterpart: macOS 10.9, iOS 4. `nil` if there is no leaf that can be read.
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

/// Has judgements from now on overlook what ``SecTrustCopyExceptions(_:)`` found wrong with this leaf. Without bytes, or with none, nothing
/// is overlooked any more.
///
/// Whatever else is wrong is as bad as before: so is the same in a certificate of another host's.
///
/// Counterpart: macOS 10.9, iOS 4.
/// - Returns: Whether the bytes are for this leaf. If not, nothing is overlooked any more either.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    let leaf = trust.values.certificates.first.flatMap { try? Certificate(der: [UInt8]($0.data)) }
    let read = exceptions.flatMap { TrustExceptions($0) }
    let fitting = read.flatMap { $0.fingerprint == leaf?.fingerprint ? $0 : nil }
    trust.update { $0.exceptions = fitting }
    return fitting != nil
}

/// When it was judged.
public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
/// The outcome: the number of a ``SecTrustResultType``.
public let kSecTrustResultValue: CFString = "TrustResultValue"

/// Judges, and gives the outcome and the time.
///
/// Counterpart: macOS 10.9, iOS 7. Apple's has more keys, of what is not done here.
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    var result = SecTrustResultType.invalid
    SecTrustEvaluate(trust, &result)
    return [kSecTrustEvaluationDate: Date(), kSecTrustResultValue: Int(result.rawValue)]
}
