import CausewayTLS
import CausewayTypes
import Foundation
import Testing

@Suite("Certificates and identities")
struct CertificateTests {
    @Test("Fields of a certificate")
    func contents() throws {
        let identity = try Authority.shared.issue([.name("a.test"), .address([1, 2, 3, 4]), .email("m@a.test")]) {
            $0.subject = "A"
            $0.extraExtensions = [CertificateTemplate.mustStaple]
        }
        let certificate = identity.certificates[0]
        #expect(certificate.subject == "CN=A" && certificate.issuer == "CN=Test Root")
        #expect(certificate.alternativeNames == [.name("a.test"), .address([1, 2, 3, 4]), .email("m@a.test")])
        #expect(certificate.notBefore == Authority.now - 10 * Authority.day)
        #expect(certificate.notAfter == Authority.now + 10 * Authority.day)
        #expect(certificate.keyDescription == "EC 256 bits")
        #expect(certificate.signatureAlgorithm == "ecdsa-with-SHA256")
        #expect(certificate.mustStaple && !certificate.isAuthority && Authority.shared.certificate.isAuthority)
        #expect(certificate.serialNumber.count == 16)
        #expect(certificate.fingerprint.count == 32 && certificate.publicKeyPin.count == 32)
        #expect(try Certificate(der: certificate.der) == certificate)
    }

    @Test(
        "Dates before 1950, from then on, and after 2050",
        arguments: [
            -62_135_596_800, -631_152_001, -631_152_000, 0, 951_782_400, 1_790_000_000, 2_524_607_999, 2_524_608_000,
            4_107_542_399,
        ])
    func dates(_ seconds: Int64) throws {
        let template = CertificateTemplate(subject: "t", notBefore: seconds, notAfter: seconds)
        #expect(try template.issue().certificates[0].notBefore == seconds)
    }

    @Test(
        "Only the feature status_request requires a stapled response",
        arguments: [
            ([0x30, 3, 2, 1, 5], true), ([0x30, 3, 2, 1, 17], false), ([0x30, 6, 2, 1, 17, 2, 1, 5], true),
            ([0x30, 0], false), ([0x30, 3, 2, 1], true), ([2, 1, 17], true), ([], true),
        ] as [([UInt8], Bool)])
    func features(_ content: [UInt8], _ isRequired: Bool) throws {
        let feature = DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 1, 24)
        let identity = try Authority.shared.issue {
            $0.extraExtensions = [CertificateTemplate.certificateExtension(feature, content)]
        }
        #expect(identity.certificates[0].mustStaple == isRequired)
    }

    @Test(
        "Invalid DER and PEM are refused",
        arguments: [[], [0x30], [0x30, 0x80], Array("-----BEGIN CERTIFICATE-----".utf8)])
    func garbage(_ bytes: [UInt8]) {
        #expect(throws: TLSFailure.self) { _ = try Certificate(der: bytes) }
        #expect(throws: TLSFailure.self) { _ = try Certificate.all(pem: bytes) }
        #expect(throws: TLSFailure.self) { _ = try TLSIdentity(certificates: bytes, key: bytes) }
        #expect(throws: TLSFailure.self) { _ = try TLSIdentity(pkcs12: bytes, password: "") }
    }

    @Test("Every truncation of a certificate is refused")
    func truncations() throws {
        let der = try Identities.server.get().certificates[0].der
        for count in 0..<der.count {
            #expect(throws: TLSFailure.self) { _ = try Certificate(der: Array(der.prefix(count))) }
        }
        #expect(throws: TLSFailure.self) { _ = try Certificate(der: der + [0]) }
    }

    private func pem(_ label: String, _ bytes: [UInt8]) -> [UInt8] {
        let text = "-----BEGIN \(label)-----\n" + Data(bytes).base64EncodedString(options: .lineLength64Characters)
        return Array((text + "\n-----END \(label)-----\n").utf8)
    }

    @Test("Identities from PEM, DER and PKCS #12")
    func identities() throws {
        let identity = try Authority("Middle", by: .shared).issue()
        let pemChain = identity.certificates.flatMap { pem("CERTIFICATE", $0.der) }
        let pemKey = pem("EC PRIVATE KEY", identity.privateKeyDER)
        #expect(try TLSIdentity(certificates: pemChain + pemKey, key: pemChain + pemKey) == identity)
        #expect(
            try TLSIdentity(derCertificates: identity.certificates.map(\.der), key: identity.privateKey) == identity)
        let archive = identity.pkcs12(password: "secret")
        #expect(try TLSIdentity(pkcs12: archive, password: "secret") == identity)
        #expect(throws: TLSFailure.self) { _ = try TLSIdentity(pkcs12: archive, password: "wrong") }
        let otherKey = try Authority.shared.issue().privateKey
        #expect(throws: TLSFailure.self) {
            _ = try TLSIdentity(derCertificates: [identity.certificates[0].der], key: otherKey)
        }
    }
}
