internal import CausewayTLS
internal import CausewayTypes
internal import FoundationEssentials

extension Exercise {
    /// Parses bytes as certificates and keys in all file formats. Prints all parts of a parsed certificate, checks that it is encoded to an
    /// equal certificate, and checks that two evaluations have the same result.
    ///
    /// Does nothing if the TLS library is missing.
    ///
    /// - Returns: The number of certificates.
    @discardableResult
    public static func certificates(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        let form = choices.next()
        let rest = form & 4 == 0 ? choices.rest : Self.damaged(made[Int(form % 4)], &choices)
        let parsed =
            switch form % 4 {
            case 0: (try? Certificate(der: rest)).map { [$0] }
            case 1: try? Certificate.all(pem: rest)
            case 2: (try? TLSIdentity(certificates: rest, key: rest))?.certificates
            default: (try? TLSIdentity(pkcs12: rest, password: ""))?.certificates
            }
        guard let parsed else { return 0 }
        evaluate(parsed)
        return parsed.count
    }

    /// A valid example of each format. The fuzzer mutates these examples to reach the inner structures of the formats.
    private static let made: [[UInt8]] = {
        let template = CertificateTemplate(subject: "server.test", notBefore: 0, notAfter: 4_000_000_000)
        guard let identity = try? template.issue() else { return [[], [], [], []] }
        let der = identity.certificates[0].der
        let certificate = pem("CERTIFICATE", der)
        let key = pem("EC PRIVATE KEY", identity.privateKeyDER)
        return [der, certificate, certificate + key, identity.pkcs12(password: "")]
    }()

    /// Returns the textual encoding (RFC 7468 §2).
    private static func pem(_ label: String, _ der: [UInt8]) -> [UInt8] {
        let content = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN \(label)-----\n\(content)\n-----END \(label)-----\n".utf8)
    }

    private static func damaged(_ bytes: [UInt8], _ choices: inout Choices) -> [UInt8] {
        var result = bytes
        while !choices.isEmpty, !result.isEmpty {
            let place = (Int(choices.next()) << 8 | Int(choices.next())) % result.count
            result[place] = choices.next()
        }
        return result
    }

    private static func evaluate(_ certificates: [Certificate]) {
        for one in certificates.prefix(20) {
            let texts = [one.subject, one.issuer, one.keyDescription, one.signatureAlgorithm, one.description]
            let bytes = [
                one.subjectDER, one.serialNumber, one.subjectPublicKeyInfo, one.publicKeyPin, one.fingerprint,
            ]
            precondition(texts.count == bytes.count && bytes[4].count == 32)
            _ = (one.notBefore, one.notAfter, one.isAuthority, one.mustStaple, one.alternativeNames)
        }
        // The first encoding converts the input to strict DER. Encoding that result again must not change it.
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
