import Causeway
import CausewayTLS
import FoundationEssentials

/// The evaluation of a server's certificates: which certificate is invalid or missing, and how to correct this.
struct TLSDiagnosis: Sendable {
    /// One certificate that the server sent.
    struct Sent: Sendable {
        var certificate: Certificate
        /// Remarks about the position of the certificate in the chain. Example: the certificate is out of order.
        var remarks: [String]
    }

    let host: String
    let endpoint: String
    let observation: TLSProbe.Observation
    var sent: [Sent]
    /// Why the server is not trusted; `nil` if it is trusted.
    let failure: String?
    /// Advice for the user. Each element is one sentence.
    let remedies: [String]
    /// The subject of each certificate in the chain, from the server's certificate to the trust anchor. Empty if no
    /// chain was found.
    let chain: [String]

    var isTrusted: Bool { failure == nil }

    init(_ observation: TLSProbe.Observation, of probe: TLSProbe) throws {
        let name = probe.serverName.map { NWEndpoint.Host($0) } ?? probe.target.host
        host = name.debugDescription
        endpoint = probe.target.endpoint.label
        self.observation = observation
        let certificates = observation.certificates
        let trust = PeerTrust(
            certificates: certificates, role: .server, reference: ReferenceName(name),
            settings: try probe.rules.settings())
        let evaluation = Self.evaluate(trust, observation)
        let path = Presented(certificates)
        switch evaluation {
        case .success(let chain):
            self.chain = chain.map(\.description)
            failure = nil
            remedies = []
            sent = path.described(accepted: chain)
        case .failure(let reason):
            chain = []
            failure = reason.message
            remedies = path.remedies(for: reason.failure, host: host) + reason.remedies
            sent = path.described(accepted: nil)
        }
        Self.remark(on: &sent, at: Int64(Date().timeIntervalSince1970))
    }

    private struct Reason: Error {
        var message: String
        var failure: TrustFailure?
        var remedies: [String] = []
    }

    private static func evaluate(_ trust: PeerTrust, _ observation: TLSProbe.Observation) -> Result<
        [Certificate], Reason
    > {
        do throws(TrustFailure) {
            let chain = try trust.evaluate()
            if let failure = trust.statusFailure(observation.stapledResponse, of: chain) { throw failure }
            guard observation.isObsolete else { return .success(chain) }
            return .failure(
                Reason(
                    message:
                        "\(observation.version) with \(observation.cipherSuite) is obsolete and disabled by default",
                    remedies: ["Enable TLS 1.2 or 1.3 with ECDHE and AES-GCM or ChaCha20-Poly1305 on the server."]))
        } catch {
            return .failure(Reason(message: error.description, failure: error))
        }
    }

    private static func remark(on sent: inout [Sent], at now: Int64) {
        for index in sent.indices {
            let certificate = sent[index].certificate
            sent[index].remarks += remarks(
                notBefore: certificate.notBefore, notAfter: certificate.notAfter, at: now)
        }
    }

    /// Returns remarks on a validity period in seconds since 1970. `Int64.min` means a malformed time.
    static func remarks(notBefore: Int64, notAfter: Int64, at now: Int64) -> [String] {
        guard notBefore != .min, notAfter != .min else { return ["has an invalid date"] }
        var remarks: [String] = []
        if notAfter < now {
            remarks.append("has expired")
        } else if notAfter - now < 14 * 86_400 {
            remarks.append("expires in \((notAfter - now) / 86_400) days")
        }
        if notBefore > now { remarks.append("is not valid yet") }
        return remarks
    }
}

/// A server's certificates, arranged as a chain that may have gaps.
struct Presented {
    private let certificates: [Certificate]
    /// The server's certificate, followed by its issuer, that issuer's issuer, and so on. The list ends where the
    /// server sent no further issuer.
    private let linked: [Certificate]

    init(_ certificates: [Certificate]) {
        self.certificates = certificates
        var linked = Array(certificates.prefix(1))
        while let last = linked.last, last.subject != last.issuer,
            let next = certificates.first(where: { $0.subject == last.issuer && !linked.contains($0) })
        {
            linked.append(next)
        }
        self.linked = linked
    }

    /// - Parameter accepted: The validated chain; `nil` if validation failed.
    func described(accepted: [Certificate]?) -> [TLSDiagnosis.Sent] {
        let used = accepted ?? linked
        return certificates.enumerated().map { index, certificate in
            var remarks: [String] = []
            if !used.contains(certificate) {
                remarks.append("is not part of the chain")
            } else if index > 0, certificate.subject == certificate.issuer, certificate.isAuthority {
                remarks.append("is a root certificate, which need not be sent")
            } else if index > 0, certificates[index - 1].issuer != certificate.subject {
                remarks.append("is out of order: each certificate should follow the certificate that it signed")
            }
            return TLSDiagnosis.Sent(certificate: certificate, remarks: remarks)
        }
    }

    /// Returns advice for a trust failure, the most likely advice first.
    func remedies(for failure: TrustFailure?, host: String) -> [String] {
        guard let failure else { return [] }
        switch failure.rule {
        case .unknownIssuer: return remediesForGap()
        case .selfSigned:
            return [
                "Get a certificate for \(host) from an authority, or add this certificate to the anchors of the clients (nw tls --ca)."
            ]
        case .nameMismatch, .noAlternativeName:
            let names = certificates.first.map { Self.names(of: $0).joined(separator: ", ") } ?? ""
            return [
                names.isEmpty
                    ? "Reissue the certificate with the subject alternative name \(host)."
                    : "Connect with one of its names (\(names)), or reissue it with the subject alternative name \(host)."
            ]
        default: return [Self.sentence(failure.advice)]
        }
    }

    private func remediesForGap() -> [String] {
        guard let last = linked.last else { return [] }
        if last.subject == last.issuer {
            return [
                "The chain ends in the root \"\(last)\", which is not trusted. To trust it, add it to the "
                    + "authorities of this system or of the program (nw tls --ca)."
            ]
        }
        var remedies = [
            "The certificate of \"\(last.issuer)\" is missing: append it to the server's certificate file, after \"\(last)\"."
        ]
        if let location = last.issuerLocations.first { remedies.append("It is available at \(location)") }
        remedies.append(
            "If \"\(last.issuer)\" is your own root, add it to the authorities of this system or of the program."
        )
        return remedies
    }

    private static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }

    static func names(of certificate: Certificate) -> [String] {
        certificate.alternativeNames.map { name in
            switch name {
            case .name(let text): text
            case .address(let bytes) where bytes.count == 4 || bytes.count == 16:
                ReferenceName.address(bytes).description
            case .address: "invalid address"
            case .email(let text): "mail:\(text)"
            case .uri(let text): text
            case .other: "unsupported name type"
            }
        }
    }
}
