import CausewayTLS
import Dispatch
import Foundation
import Network
import Testing

@testable import Causeway

@Suite("Keys, and the texts of certificates")
struct SecurityKeyTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var kind: CertificateTemplate.KeyKind
        /// Permitted sizes in bytes: first for the public key, then for the private key. The length of RSA keys in DER
        /// varies.
        var lengths: (ClosedRange<Int>, ClosedRange<Int>)
        var type: CFString
        var bits: Int
        var testDescription: String { name }
    }

    static let kinds = [
        Kind(name: "P-256", kind: .p256, lengths: (65...65, 97...97), type: kSecAttrKeyTypeECSECPrimeRandom, bits: 256),
        Kind(
            name: "RSA", kind: .rsa(bits: 2_048), lengths: (270...270, 1_180...1_200), type: kSecAttrKeyTypeRSA,
            bits: 2_048),
    ]

    private static func identity(_ kind: CertificateTemplate.KeyKind, named name: String = "leaf") throws -> SecIdentity
    {
        let now = Int64(Date().timeIntervalSince1970)
        var template = CertificateTemplate(subject: name, notBefore: now - 3_600, notAfter: now + 3_600)
        template.keyKind = kind
        return SecIdentity(try template.issue())
    }

    @Test("Both halves of a key have the standard encoding and describe themselves", arguments: kinds)
    func keys(_ row: Kind) throws {
        let identity = try Self.identity(row.kind)
        let publicKey = try #require(SecCertificateCopyKey(identity.certificate))
        var privateKey: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &privateKey) == errSecSuccess)
        let secretKey = try #require(privateKey)
        let other = try #require(SecKeyCopyPublicKey(secretKey))
        var error: Unmanaged<CFError>?
        let representations = [publicKey, other, secretKey].map {
            SecKeyCopyExternalRepresentation($0, &error) as Data?
        }
        let bytes = try #require(representations[0])
        #expect(representations[1] == bytes)
        let secret = try #require(representations[2])
        #expect(row.lengths.0 ~= bytes.count && row.lengths.1 ~= secret.count)
        if row.bits == 256 { #expect(bytes.first == 4 && secret.starts(with: bytes)) }
        let attributes = try #require(SecKeyCopyAttributes(publicKey))
        #expect(attributes[kSecAttrKeyType] as? String == row.type)
        #expect(attributes[kSecAttrKeySizeInBits] as? Int == row.bits)
        #expect(attributes[kSecAttrKeyClass] as? String == kSecAttrKeyClassPublic)
        #expect(SecKeyCopyAttributes(secretKey)?[kSecAttrKeyClass] as? String == kSecAttrKeyClassPrivate)
        #expect(SecKeyGetBlockSize(publicKey) == row.bits / 8)
        // The certificate's data must contain exactly these bytes of the public key.
        #expect(identity.certificate.data.range(of: bytes) != nil)
    }

    @Test("Keys and identities compare by value, trusts by identity", arguments: kinds)
    func equality(_ row: Kind) throws {
        let identity = try Self.identity(row.kind)
        let publicKey = try #require(SecCertificateCopyKey(identity.certificate))
        let same = try #require(SecKeyCopyPublicKey(identity.privateKey))
        let other = try #require(SecCertificateCopyKey(try Self.identity(row.kind).certificate))
        #expect([publicKey].contains(same) && ![publicKey].contains(other))
        #expect(publicKey != identity.privateKey && identity.privateKey == identity.privateKey)
        #expect(Set([publicKey, same, other, identity.privateKey]).count == 3)
        let twin = SecIdentity(certificate: identity.certificate, privateKey: identity.privateKey)
        let stranger = try Self.identity(row.kind)
        #expect(identity == twin && identity != stranger)
        #expect(Set([identity, twin]).count == 1)
        let trusts = [0, 1].map { _ in SecTrust(.init(certificates: [identity.certificate], policies: [])) }
        #expect(Set(trusts + trusts).count == 2)
        // A key with an unknown format is equal only to itself.
        let unknown = [0, 1].map { _ in SecKey(.engine("")) }
        #expect(unknown[0] != unknown[1] && unknown[0] == unknown[0])
    }

    @Test("A key of another kind, or invalid bytes, have no representation")
    func others() throws {
        let edwards = try #require(SecCertificateCopyKey(try Self.identity(.ed25519).certificate))
        for key in [edwards, SecKey(.publicKey(Data([0x30, 1, 2])))] {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
            #expect(error?.takeRetainedValue().underlyingError == .posix(.ENOTSUP))
            #expect(SecKeyCopyAttributes(key) == nil)
        }
        #expect(SecKeyGetBlockSize(SecKey(.publicKey(Data()))) == 0)
        #expect(SecCertificateCopyKey(SecCertificate(data: Data([0x30, 0]))) == nil)
    }

    @Test("A certificate has its name and its serial number")
    func words() throws {
        let certificate = try Self.identity(.p256, named: "Büro 7").certificate
        #expect(SecCertificateCopySubjectSummary(certificate) == "Büro 7")
        var name: CFString?
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecSuccess && name == "Büro 7")
        #expect(SecCertificateCopySerialNumberData(certificate, nil)?.isEmpty == false)
        let broken = SecCertificate(data: Data([0x30, 0]))
        var error: Unmanaged<CFError>?
        #expect(SecCertificateCopySerialNumberData(broken, &error) == nil)
        #expect(error?.takeRetainedValue().underlyingError == .tls(errSSLBadCert))
        #expect(SecCertificateCopyCommonName(broken, &name) == errSecDecode)
        #expect(SecCertificateCopySubjectSummary(broken) == nil)
    }

    @Test("The older evaluation functions work too, on the given queue")
    func results() async throws {
        let identity = try Self.identity(.p256)
        var made: SecTrust?
        SecTrustCreateWithCertificates(identity.certificate, SecPolicyCreateBasicX509(), &made)
        let trust = try #require(made)
        #expect(SecTrustCopyKey(trust).flatMap { SecKeyCopyExternalRepresentation($0, nil) }?.count == 65)
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess && result == .recoverableTrustFailure)
        SecTrustSetAnchorCertificates(trust, [identity.certificate] as CFArray)
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .unspecified)
        let queue = DispatchQueue(label: "trust")
        let isTrusted = await withCheckedContinuation { continuation in
            SecTrustEvaluateAsyncWithError(trust, queue) { evaluated, isTrusted, error in
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume(returning: evaluated === trust && isTrusted && error == nil)
            }
        }
        #expect(isTrusted)
        let later = await withCheckedContinuation { continuation in
            SecTrustEvaluateAsync(trust, queue) { _, result in continuation.resume(returning: result) }
        }
        #expect(later == .unspecified)
    }

    @Test("Objects have type identifiers, and status codes have messages")
    func kindsOfObjects() throws {
        let identity = try Self.identity(.p256)
        let item: [String: Any] = [kSecImportItemIdentity: identity]
        #expect(CFGetTypeID(item[kSecImportItemIdentity] as CFTypeRef) == SecIdentityGetTypeID())
        #expect(CFGetTypeID(identity.certificate) == SecCertificateGetTypeID())
        #expect(CFGetTypeID(identity.privateKey) != SecIdentityGetTypeID())
        #expect(SecCopyErrorMessageString(errSecParam, nil) == "invalid parameter")
        #expect(SecCopyErrorMessageString(errSSLHostNameMismatch, nil)?.isEmpty == false)
        #expect(SecCopyErrorMessageString(12_345, nil) == nil)
    }

    @Test("Foundation's objects are accepted in place of Core Foundation's")
    func bridging() throws {
        var items: CFArray?
        let options: NSDictionary = [kSecImportExportPassphrase: "secret"]
        let archive = try Self.engineIdentity().pkcs12(password: "secret")
        #expect(SecPKCS12Import(Data(archive) as NSData, options, &items) == errSecSuccess)
        let first = (items! as! [[String: Any]])[0]
        #expect((first[kSecImportItemIdentity] as! SecIdentity?) != nil)
        #expect(
            SecPKCS12Import(NSData(data: Data(archive)), [kSecImportExportPassphrase: "no"], &items) == errSecAuthFailed
        )
        #expect(SecCertificateCreateWithData(nil, NSData(data: Data([0x30, 0]))) != nil)
    }

    private static func engineIdentity() throws -> TLSIdentity {
        let now = Int64(Date().timeIntervalSince1970)
        return try CertificateTemplate(subject: "leaf", notBefore: now - 3_600, notAfter: now + 3_600).issue()
    }
}
