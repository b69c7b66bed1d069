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

    private static func date(_ seconds: Int64) -> String {
        guard seconds != .min else { return "invalid date" }
        return Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }

    // MARK: JSON

    private struct Object: Encodable {
        struct Entry: Encodable {
            var subject: String
            var issuer: String
            var names: [String]
            var notBefore: String
            var notAfter: String
            var serialNumber: String
            var key: String
            var signatureAlgorithm: String
            var isAuthority: Bool
            var sha256: String
            var pin: String
            var issuerLocations: [String]
            var notes: [String]
        }

        struct Times: Encodable {
            var resolve: Double?
            var connect: Double?
            var handshake: Double?
        }

        var endpoint: String
        var host: String
        var isTrusted: Bool
        var failure: String?
        var remedies: [String]
        var version: String
        var cipherSuite: String
        var group: String?
        var applicationProtocol: String?
        var isStatusStapled: Bool
        /// The step durations in seconds.
        var times: Times
        var certificates: [Entry]
        var chain: [String]
    }

    func json() -> PrintableText {
        PrintableText(json: object, isIndented: true)
    }

    private var object: Object {
        Object(
            endpoint: endpoint, host: host, isTrusted: isTrusted, failure: failure, remedies: remedies,
            version: observation.version, cipherSuite: observation.cipherSuite, group: observation.group,
            applicationProtocol: observation.applicationProtocol, isStatusStapled: observation.stapledResponse != nil,
            times: Object.Times(
                resolve: observation.times.resolve?.inSeconds, connect: observation.times.connect?.inSeconds,
                handshake: observation.times.handshake?.inSeconds),
            certificates: sent.map { Self.entry($0) }, chain: chain)
    }

    private static func entry(_ sent: Sent) -> Object.Entry {
        let certificate = sent.certificate
        return Object.Entry(
            subject: certificate.subject, issuer: certificate.issuer, names: Presented.names(of: certificate),
            notBefore: date(certificate.notBefore), notAfter: date(certificate.notAfter),
            serialNumber: Hexadecimal.text(certificate.serialNumber), key: certificate.keyDescription,
            signatureAlgorithm: certificate.signatureAlgorithm, isAuthority: certificate.isAuthority,
            sha256: Hexadecimal.text(certificate.fingerprint),
            pin: Data(certificate.publicKeyPin).base64EncodedString(),
            issuerLocations: certificate.issuerLocations, notes: sent.remarks)
    }
}
