internal import Causeway
internal import CausewayTLS
internal import Foundation

/// A local peer's private key and certificate. Only this file needs OpenSSL. On Apple systems, the Security framework
/// has the same functions.
struct PeerKeyPair: Sendable {
    private let material: TLSIdentity

    /// A certificate's lifetime in seconds. Peers pin the key, and do not check the dates.
    private static let lifetime: Int64 = 3_650 * 86_400

    /// Creates a key on the curve P-256 and a self-signed certificate.
    init() throws(PeerFailure) {
        let now = Int64(Date().timeIntervalSince1970)
        let template = CertificateTemplate(
            subject: "peer", notBefore: now - 86_400, notAfter: now + Self.lifetime)
        do {
            material = try template.issue()
        } catch {
            throw PeerFailure(.unsupported, "cannot make a key: \(error.message)")
        }
    }

    /// Reads a key and its certificate in PEM.
    init(pem: [UInt8]) throws(PeerFailure) {
        do {
            material = try TLSIdentity(certificates: pem, key: pem)
        } catch {
            throw PeerFailure(.file, "cannot read the key: \(error.message)")
        }
    }

    var identity: SecIdentity { SecIdentity(material) }
    var publicKey: [UInt8] { material.certificates[0].subjectPublicKeyInfo }
    /// The certificate in DER.
    var certificate: [UInt8] { material.certificates[0].der }

    /// Key and certificate in PEM. The text must stay secret.
    var pem: String {
        Self.block("PRIVATE KEY", material.privateKeyDER, isTraditional: true)
            + Self.block("CERTIFICATE", material.certificates[0].der, isTraditional: false)
    }

    private static func block(_ label: String, _ der: [UInt8], isTraditional: Bool) -> String {
        // OpenSSL encodes an EC key as SEC 1 (RFC 5915). The label of this format is "EC PRIVATE KEY".
        let label = isTraditional ? "EC \(label)" : label
        let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }

    /// Signs with ECDSA and SHA-256. Returns an empty signature if OpenSSL fails.
    func sign(_ bytes: [UInt8]) -> [UInt8] { (try? material.sign(bytes)) ?? [] }

    /// Verifies a signature with a certificate's key.
    static func verify(_ bytes: [UInt8], signature: [UInt8], certificate der: [UInt8]) -> Bool {
        (try? Certificate(der: der))?.hasSigned(bytes, signature: signature) ?? false
    }

    /// A certificate's public key (SubjectPublicKeyInfo, RFC 5280 §4.1.2.7); `nil` if it is malformed.
    static func publicKey(ofCertificate der: [UInt8]) -> [UInt8]? {
        (try? Certificate(der: der))?.subjectPublicKeyInfo
    }

    /// The SHA-256 digest.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        guard let digest = LibrarySHA256() else { return [] }
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finish()
    }
}

extension PeerKeyPair {
    /// A file's SHA-256 digest.
    static func digest(of file: URL) throws -> [UInt8] {
        guard let digest = LibrarySHA256() else { return [] }
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        while let block = try handle.read(upToCount: 1 << 20), !block.isEmpty {
            block.withUnsafeBytes { digest.update($0) }
        }
        return digest.finish()
    }
}

/// An incremental SHA-256 digest.
struct RunningDigest {
    private let digest = LibrarySHA256()
    /// The number of bytes added to the digest so far.
    private(set) var byteCount: UInt64 = 0

    mutating func update(_ bytes: some Collection<UInt8> & ContiguousBytes) {
        bytes.withUnsafeBytes { digest?.update($0) }
        byteCount += UInt64(bytes.count)
    }

    func finish() -> [UInt8] { digest?.finish() ?? [] }
}

/// The certificates that a group shows to its peers, and the proof that the group has the certificate's key.
enum CertificateProof {
    /// An identity's certificate and its issuers in DER.
    static func chain(_ identity: SecIdentity, _ issuers: [SecCertificate]) -> [[UInt8]] {
        var own: SecCertificate?
        guard SecIdentityCopyCertificate(identity, &own) == errSecSuccess, let own else { return [] }
        return ([own] + issuers.filter { $0 != own }).map { [UInt8](SecCertificateCopyData($0) as Data) }
    }

    /// Signs with an identity's key. Returns an empty signature if that fails: peers then do not accept the
    /// certificates.
    static func sign(_ message: [UInt8], with identity: SecIdentity) -> [UInt8] {
        guard let material = try? sec_identity_t(identity).engineIdentity() else { return [] }
        return (try? material.sign(message)) ?? []
    }
}
