import CausewayTLS
import CausewayTypes
import CausewayWire
import FoundationEssentials

extension TLSDiagnosis {
    // MARK: Text

    func text() -> PrintableText {
        var lines = ["\(endpoint): " + (isTrusted ? "trusted" : "NOT TRUSTED") + " as \(host)"]
        if let failure { lines.append("  reason:    \(failure)") }
        lines += remedies.map { "  fix:       \($0)" }
        lines.append("  protocol:  \(observation.version), \(observation.cipherSuite)")
        if let group = observation.group { lines.append("  group:     \(group)") }
        lines.append("  alpn:      \(observation.applicationProtocol ?? "none")")
        lines.append(
            "  stapled:   \(observation.stapledResponse == nil ? "no OCSP response" : "OCSP response")")
        lines.append("  times:     " + times)
        lines.append("  sent:      \(sent.count) certificate\(sent.count == 1 ? "" : "s")")
        for (index, entry) in sent.enumerated() { lines += Self.lines(for: entry, index) }
        if let anchor = chain.last { lines.append("  anchor:    \(anchor)") }
        return PrintableText(lines: lines)
    }

    private var times: String {
        let steps: [(String, Duration?)] = [
            ("resolve", observation.times.resolve), ("connect", observation.times.connect),
            ("handshake", observation.times.handshake),
        ]
        return steps.compactMap { step, time in time.map { "\(step) \(Amounts.milliseconds($0))" } }.joined(
            separator: ", ")
    }

    private static func lines(for entry: Sent, _ index: Int) -> [String] {
        let certificate = entry.certificate
        var lines = ["  [\(index)] \(certificate)" + (certificate.isAuthority ? "  (CA)" : "")]
        let names = Presented.names(of: certificate)
        if !names.isEmpty {
            let more = names.count > 12 ? ", and \(names.count - 12) more" : ""
            lines.append("      names:     " + names.prefix(12).joined(separator: ", ") + more)
        }
        lines.append("      issuer:    \(certificate.issuer)")
        lines.append("      valid:     \(date(certificate.notBefore)) to \(date(certificate.notAfter))")
        lines.append("      key:       \(certificate.keyDescription), signed with \(certificate.signatureAlgorithm)")
        lines.append("      sha-256:   \(Hexadecimal.text(certificate.fingerprint))")
        lines.append("      pin:       \(Data(certificate.publicKeyPin).base64EncodedString())")
        lines += entry.remarks.map { "      note:      it \($0)" }
        return lines
    }

    fileprivate static func date(_ seconds: Int64) -> String {
        guard seconds != .min else { return "invalid date" }
        return Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }

    // MARK: JSON

    func json() -> PrintableText {
        PrintableText(json: self, isIndented: true)
    }
}

extension TLSDiagnosis: Encodable {
    private enum Key: String, CodingKey {
        case endpoint, host, isTrusted, failure, remedies, version, cipherSuite, group, applicationProtocol
        case isStatusStapled, times, certificates, chain
    }

    /// The durations of name resolution, connection establishment and TLS handshake, in seconds.
    private struct Times: Encodable {
        var resolve: Double?
        var connect: Double?
        var handshake: Double?

        init(_ observation: TLSProbe.Observation) {
            resolve = observation.times.resolve?.inSeconds
            connect = observation.times.connect?.inSeconds
            handshake = observation.times.handshake?.inSeconds
        }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(endpoint, forKey: .endpoint)
        try object.encode(host, forKey: .host)
        try object.encode(isTrusted, forKey: .isTrusted)
        try object.encodeIfPresent(failure, forKey: .failure)
        try object.encode(remedies, forKey: .remedies)
        try object.encode(observation.version, forKey: .version)
        try object.encode(observation.cipherSuite, forKey: .cipherSuite)
        try object.encodeIfPresent(observation.group, forKey: .group)
        try object.encodeIfPresent(observation.applicationProtocol, forKey: .applicationProtocol)
        try object.encode(observation.stapledResponse != nil, forKey: .isStatusStapled)
        try object.encode(Times(observation), forKey: .times)
        try object.encode(sent, forKey: .certificates)
        try object.encode(chain, forKey: .chain)
    }
}

extension TLSDiagnosis.Sent: Encodable {
    private enum Key: String, CodingKey {
        case subject, issuer, names, notBefore, notAfter, serialNumber, key, signatureAlgorithm, isAuthority, sha256
        case pin, issuerLocations, notes
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(certificate.subject, forKey: .subject)
        try object.encode(certificate.issuer, forKey: .issuer)
        try object.encode(Presented.names(of: certificate), forKey: .names)
        try object.encode(TLSDiagnosis.date(certificate.notBefore), forKey: .notBefore)
        try object.encode(TLSDiagnosis.date(certificate.notAfter), forKey: .notAfter)
        try object.encode(Hexadecimal.text(certificate.serialNumber), forKey: .serialNumber)
        try object.encode(certificate.keyDescription, forKey: .key)
        try object.encode(certificate.signatureAlgorithm, forKey: .signatureAlgorithm)
        try object.encode(certificate.isAuthority, forKey: .isAuthority)
        try object.encode(Hexadecimal.text(certificate.fingerprint), forKey: .sha256)
        try object.encode(Data(certificate.publicKeyPin).base64EncodedString(), forKey: .pin)
        try object.encode(certificate.issuerLocations, forKey: .issuerLocations)
        try object.encode(remarks, forKey: .notes)
    }
}
