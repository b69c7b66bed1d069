import Foundation
import Testing

@testable import Causeway

@Suite("The fields of a certificate")
struct SecCertificateValuesTests {
    private static let start = Date(timeIntervalSince1970: Double(SelfSigned.notBefore))
    private static let end = Date(timeIntervalSince1970: Double(SelfSigned.notAfter))

    @Test("The validity period can be read as dates, and as numbers by its identifiers")
    func validity() throws {
        let certificate = try SelfSigned(kSecAttrKeyTypeECSECPrimeRandom, 256).certificate
        #expect(SecCertificateCopyNotValidBeforeDate(certificate) == Self.start)
        #expect(SecCertificateCopyNotValidAfterDate(certificate) == Self.end)
        let all = try #require(SecCertificateCopyValues(certificate, nil, nil))
        #expect(all.count == 2)
        let keys = [kSecOIDX509V1ValidityNotAfter, "2.5.4.3"] as CFArray
        let values = try #require(SecCertificateCopyValues(certificate, keys, nil))
        #expect(Array(values.keys) == [kSecOIDX509V1ValidityNotAfter])
        let property = try #require(values[kSecOIDX509V1ValidityNotAfter] as? [String: Any])
        #expect(property[kSecPropertyKeyType] as? String == kSecPropertyTypeNumber)
        #expect(property[kSecPropertyKeyLabel] as? String == "Not Valid After")
        #expect(property[kSecPropertyKeyLocalizedLabel] as? String == "Not Valid After")
        let number = try #require(property[kSecPropertyKeyValue] as? NSNumber)
        #expect(Date(timeIntervalSinceReferenceDate: number.doubleValue) == Self.end)
        let start = all[kSecOIDX509V1ValidityNotBefore] as? [String: Any]
        #expect(start?[kSecPropertyKeyValue] as? Double == Self.start.timeIntervalSinceReferenceDate)
    }

    @Test("A malformed certificate has no fields, and keys must be strings")
    func malformed() throws {
        let broken = SecCertificate(data: Data([0x30, 0]))
        #expect(SecCertificateCopyNotValidBeforeDate(broken) == nil)
        #expect(SecCertificateCopyNotValidAfterDate(broken) == nil)
        #expect(SecKeyCreationTests.code { SecCertificateCopyValues(broken, nil, $0) != nil } == errSecDecode)
        let certificate = try SelfSigned(kSecAttrKeyTypeECSECPrimeRandom, 256).certificate
        let keys: CFArray = [kSecOIDX509V1ValidityNotAfter, 1]
        #expect(SecKeyCreationTests.code { SecCertificateCopyValues(certificate, keys, $0) != nil } == errSecParam)
    }
}
