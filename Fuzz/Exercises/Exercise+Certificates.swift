internal import CausewayTLS
internal import CausewayTypes

extension Exercise {
    /// Parses bytes as certificates and keys in all file formats. A parsed certificate is printed completely, encoded to the same value,
    /// and evaluated twice with the same result.
    ///
    /// Does nothing if the TLS library is missing.
    public static func certificates(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        let form = choices.next()
        let rest = form & 4 == 0 ? choices.rest : Self.damaged(made[Int(form % 4)], &choices)
        switch form % 4 {
        case 0: if let one = try? Certificate(der: rest) { judge([one]) }
        case 1: if let all = try? Certificate.all(pem: rest) { judge(all) }
        case 2: if let identity = try? TLSIdentity(certificates: rest, key: rest) { judge(identity.certificates) }
        default: if let identity = try? TLSIdentity(pkcs12: rest, password: "") { judge(identity.certificates) }
        }
    }

    /// A valid example of each format. Mutations of these reach the inner structures.
    private static let made: [[UInt8]] = {
        let template = CertificateTemplate(subject: "server.test", notBefore: 0, notAfter: 4_000_000_000)
        guard let identity = try? template.issue() else { return [[], [], [], []] }
        let der = identity.certificates[0].der
        return [der, der, identity.privateKeyDER, identity.pkcs12(password: "")]
    }()

    private static func damaged(_ bytes: [UInt8], _ choices: inout Choices) -> [UInt8] {
        var result = bytes
        while !choices.isEmpty, !result.isEmpty {
            let place = (Int(choices.next()) << 8 | Int(choices.next())) % result.count
            result[place] = choices.next()
        }
        return result
    }

    private static func judge(_ certificates: [Certificate]) {
        for one in certificates.prefix(20) {
            let texts = [one.subject, one.issuer, one.keyDescription, one.signatureAlgorithm, one.description]
            let bytes = [
                one.subjectDER, one.serialNumber, one.subjectPublicKeyInfo, one.publicKeyPin, one.fingerprint,
            ]
            precondition(texts.count == bytes.count && bytes[4].count == 32)
            _ = (one.notBefore, one.notAfter, one.isAuthority, one.mustStaple, one.alternativeNames)
        }
        // Input that is not strict DER is encoded as DER, and stays the same from then on.
        let der = certificates[0].der
        precondition(
            (try? Certificate(der: der))?.der == der, "the certificate is encoded differently than it was parsed")
        let hosts: [NWEndpoint.Host] = [.name("server.test", nil), .ipv4(.loopback), .ipv6(.loopback)]
        for host in hosts {
            for isServer in [true, false] {
                var settings = TrustSettings()
                settings.includesSystemAnchors = false
                settings.anchors = [certificates[certificates.count - 1]]
                settings.time = certificates[0].notBefore
                let trust = PeerTrust(
                    certificates: certificates, role: isServer ? .server : .client, reference: ReferenceName(host),
                    settings: settings)
                precondition(verdict(on: trust) == verdict(on: trust), "two evaluations gave different results")
            }
        }
    }

    private static func verdict(on trust: PeerTrust) -> String {
        do {
            return "\(try trust.evaluate().count)"
        } catch {
            return "\(error)"
        }
    }
}
