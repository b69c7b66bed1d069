import Testing

@testable import CausewayTLS

@Suite("Reading certificates")
struct CertificateFieldsTests {
    // RFC 5280 §4.1.1.2, §4.1.2.1, §4.1.2.2, §4.1.2.6, §4.1.2.7, §4.1.2.9, §4.2.1.6, §4.1.2.3.
    @Test("The library and our decoder read equal fields")
    func agreement() throws {
        let certificates =
            try Identities.server.get().certificates + [
                Authority.shared.certificate,
                Authority("Limited", by: .shared) { $0.permittedNames = ["a.test"] }.certificate,
                try Authority.shared.issue([.address([127, 0, 0, 1]), .uri("https://a.test"), .email("a@b")]) {
                    $0.notAfter = 4_000_000_000
                }.certificates[0],
            ]
        for certificate in certificates {
            let fields = try CertificateFields(certificate.der)
            #expect(fields.version == 3 && fields.isAlgorithmConsistent)
            #expect(fields.notBefore == certificate.notBefore && fields.notAfter == certificate.notAfter)
            #expect(Array(fields.publicKey) == certificate.subjectPublicKeyInfo)
            #expect(Array(fields.serialNumber) == certificate.serialNumber)
            #expect((fields.extensions.basicConstraints?.isAuthority ?? false) == certificate.isAuthority)
            let names = fields.extensions.alternativeNames?.names ?? []
            #expect(names.map(\.alternativeName) == certificate.alternativeNames)
            #expect(try CertificateFields.subject(of: certificate.der) == fields.subject)
        }
    }

    // RFC 5280 §4.2.2.1.
    @Test("The addresses of the issuer and of the revocation status")
    func locations() throws {
        func access(_ method: UInt32, _ location: String) -> [UInt8] {
            DERWriter.sequence(
                DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 48, method), DERWriter.value(0x86, Array(location.utf8)))
        }
        let content = DERWriter.sequence(access(1, "http://status.test/"), access(2, "http://issuer.test/ca.der"))
        let leaf = try Authority.shared.issue {
            $0.extraExtensions = [
                CertificateTemplate.certificateExtension(DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 1, 1), content)
            ]
        }.certificates[0]
        #expect(leaf.issuerLocations == ["http://issuer.test/ca.der"])
        #expect(leaf.statusLocations == ["http://status.test/"])
        #expect(Authority.shared.certificate.issuerLocations.isEmpty)
    }

    // Validity times: RFC 5280 §4.1.2.5.1, §4.1.2.5.2.
    @Test(
        "Times",
        arguments: [
            (0x17, "700101000000Z", 0), (0x17, "491231235959Z", 2_524_607_999), (0x17, "500101000000Z", -631_152_000),
            (0x18, "20500101000000Z", 2_524_608_000), (0x18, "00000101000000Z", -62_167_219_200),
            (0x18, "00000301000000Z", -62_162_035_200), (0x17, "000229000000Z", 951_782_400),
            (0x17, "7001010000Z", nil), (0x17, "700101000000+0000", nil), (0x17, "701301000000Z", nil),
            (0x17, "70010100000aZ", nil), (0x18, "20500101000000.5Z", nil), (0x04, "700101000000Z", nil),
            (0x17, "", nil), (0x18, "20500101240000Z", nil),
            // Only dates that exist: the month's length, and the leap day of centuries.
            (0x17, "700131000000Z", 2_592_000), (0x17, "700228000000Z", 5_011_200), (0x17, "701231235959Z", 31_535_999),
            (0x17, "700231000000Z", nil), (0x17, "700229000000Z", nil), (0x17, "700431000000Z", nil),
            (0x17, "700631000000Z", nil), (0x17, "700931000000Z", nil), (0x17, "701131000000Z", nil),
            (0x17, "701232000000Z", nil), (0x17, "700100000000Z", nil), (0x18, "21000229000000Z", nil),
            (0x18, "21000228000000Z", 4_107_456_000),
        ] as [(UInt8, String, Int64?)])
    func times(_ tag: UInt8, _ text: String, _ seconds: Int64?) throws {
        var reader = DERReader(DERWriter.value(tag, Array(text.utf8))[...])
        let value = try reader.next()
        #expect((try? CertificateFields.time(value)) == seconds)
    }

    @Test(
        "Encodings that violate DER",
        arguments: [
            [], [0x30], [0x30, 1], [0x30, 0x80, 0, 0], [0x30, 0x81, 1, 0], [0x30, 0x82, 0, 0x80], [0x1f, 1, 0],
            [0x30, 0x85, 0, 0, 0, 0, 1, 0], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
        ] as [[UInt8]])
    func malformed(_ bytes: [UInt8]) {
        #expect(throws: DERError.self) {
            var reader = DERReader(bytes[...])
            _ = try reader.next()
        }
    }

    @Test(
        "Numbers",
        arguments: [
            ([0], 0), ([0x7f], 127), ([0, 0x80], 128), ([0, 1], nil), ([0x80], nil), ([], nil),
            ([0, 0xff, 0xff, 0xff, 0xff], nil), ([0x7f, 0xff, 0xff, 0xff], 2_147_483_647),
        ] as [([UInt8], Int?)])
    func numbers(_ content: [UInt8], _ value: Int?) {
        var reader = DERReader(DERWriter.value(0x02, content)[...])
        #expect((try? reader.smallNumber()) == value)
    }
}
