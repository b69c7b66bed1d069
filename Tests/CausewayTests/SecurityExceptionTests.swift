import CausewayTLS
import Foundation
import Testing

@testable import Causeway

/// Tests a self-signed certificate, and a user's decision to accept it.
@Suite("Exceptions of a trust")
struct SecurityExceptionTests {
    private static let now = Int64(Date().timeIntervalSince1970)

    private static func leaf(expired: Bool = false, name: String = "device.example") throws -> SecCertificate {
        var template = CertificateTemplate(
            subject: "device", notBefore: now - 7_200, notAfter: expired ? now - 3_600 : now + 86_400)
        template.names = [.name(name)]
        return SecCertificate(data: Data(try template.issue().certificates[0].der))
    }

    private static func trust(_ leaf: SecCertificate, host: String = "device.example") throws -> SecTrust {
        var made: SecTrust?
        #expect(SecTrustCreateWithCertificates(leaf, SecPolicyCreateSSL(true, host), &made) == errSecSuccess)
        return try #require(made)
    }

    private static func result(_ trust: SecTrust) -> SecTrustResultType {
        var result = SecTrustResultType.invalid
        SecTrustEvaluate(trust, &result)
        return result
    }

    @Test("A leaf's accepted errors are ignored for the same leaf, until the exceptions are removed")
    func sameLeaf() throws {
        let leaf = try Self.leaf(expired: true, name: "other.example")
        let first = try Self.trust(leaf)
        #expect(Self.result(first) == .recoverableTrustFailure)
        let kept = try #require(SecTrustCopyExceptions(first))
        let second = try Self.trust(leaf)
        #expect(!SecTrustEvaluateWithError(second, nil))
        #expect(SecTrustSetExceptions(second, kept))
        #expect(SecTrustEvaluateWithError(second, nil))
        #expect(Self.result(second) == .proceed)
        #expect(SecTrustCopyResult(second)?[kSecTrustResultValue] as? Int == Int(SecTrustResultType.proceed.rawValue))
        #expect(SecTrustCopyResult(second)?[kSecTrustEvaluationDate] is Date)
        #expect(!SecTrustSetExceptions(second, nil))
        #expect(!SecTrustEvaluateWithError(second, nil))
        #expect(SecTrustSetExceptions(second, kept))
        #expect(!SecTrustSetExceptions(second, Data()))
        #expect(!SecTrustEvaluateWithError(second, nil))
    }

    @Test("Exceptions do not apply to another leaf, even with the same name")
    func otherLeaf() throws {
        let kept = try #require(SecTrustCopyExceptions(try Self.trust(try Self.leaf())))
        let other = try Self.trust(try Self.leaf())
        #expect(!SecTrustSetExceptions(other, kept))
        #expect(!SecTrustEvaluateWithError(other, nil))
    }

    @Test("An error that did not exist before is not ignored")
    func newFault() throws {
        let leaf = try Self.leaf()
        let kept = try #require(SecTrustCopyExceptions(try Self.trust(leaf)))
        let later = try Self.trust(leaf)
        #expect(SecTrustSetExceptions(later, kept))
        #expect(SecTrustEvaluateWithError(later, nil))
        SecTrustSetVerifyDate(later, Date(timeIntervalSinceNow: 2 * 86_400))
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(later, &error))
        #expect(error?.underlyingError == .tls(errSSLCertExpired))
        let elsewhere = try Self.trust(leaf, host: "bank.example")
        #expect(SecTrustSetExceptions(elsewhere, kept))
        #expect(!SecTrustEvaluateWithError(elsewhere, nil))
    }

    @Test("A date before or after all others makes a certificate invalid", arguments: [-Double.infinity, 1e300, .nan])
    func extremeDate(_ seconds: Double) throws {
        let leaf = try Self.leaf()
        let trust = try Self.trust(leaf)
        SecTrustSetAnchorCertificates(trust, [leaf])
        let status = SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: seconds))
        #expect(status == (seconds.isNaN ? errSecParam : errSecSuccess))
        #expect(SecTrustEvaluateWithError(trust, nil) == seconds.isNaN)
    }

    @Test("A trusted leaf needs no exceptions, and has none")
    func trusted() throws {
        let leaf = try Self.leaf()
        let trust = try Self.trust(leaf)
        SecTrustSetAnchorCertificates(trust, [leaf])
        let kept = try #require(SecTrustCopyExceptions(trust))
        #expect(SecTrustSetExceptions(trust, kept))
        #expect(Self.result(trust) == .unspecified)
        let stricter = try Self.trust(leaf)
        #expect(SecTrustSetExceptions(stricter, kept))
        #expect(Self.result(stricter) == .recoverableTrustFailure)
    }

    @Test("A key that anyone can compute is never accepted")
    func weakKey() throws {
        var template = CertificateTemplate(subject: "device", notBefore: Self.now - 60, notAfter: Self.now + 86_400)
        template.names = [.name("device.example")]
        template.keyKind = .rsa(bits: 1_024)
        let leaf = SecCertificate(data: Data(try template.issue().certificates[0].der))
        let trust = try Self.trust(leaf)
        let kept = try #require(SecTrustCopyExceptions(trust))
        #expect(SecTrustSetExceptions(trust, kept))
        #expect(!SecTrustEvaluateWithError(trust, nil))
    }

    @Test("Other bytes are not exceptions")
    func nonsense() throws {
        let leaf = try Self.leaf()
        let trust = try Self.trust(leaf)
        let kept = try #require(SecTrustCopyExceptions(trust))
        for count in 0..<kept.count { #expect(!SecTrustSetExceptions(trust, kept.prefix(count))) }
        for index in kept.indices {
            var changed = kept
            changed[index] = 0xff
            #expect(!SecTrustSetExceptions(trust, changed))
        }
        #expect(!SecTrustSetExceptions(trust, kept + Data("any rule\n".utf8)))
        #expect(SecTrustSetExceptions(trust, kept))
        #expect(SecTrustCopyExceptions(SecTrust(.init(certificates: [], policies: []))) == nil)
    }
}
