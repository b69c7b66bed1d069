import Causeway
import CausewaySystem
import CausewayTLS
import CausewayWire

/// A self-signed certificate that is created for one run. Clients must trust it explicitly, for example by its
/// fingerprint.
struct MadeCertificate {
    private static let lifetime: Int64 = 90 * 86_400

    let identity: sec_identity_t
    /// The certificate's SHA-256 digest, in hexadecimal.
    let fingerprint: String

    /// - Parameter host: The server's address; `nil` for this computer's names.
    /// - Throws: ``CommandFailure`` if OpenSSL cannot be used.
    init(for host: String?) throws {
        let now = Int64(time(nil))
        var template = CertificateTemplate(
            subject: "nw serve http", notBefore: now - 3_600, notAfter: now + Self.lifetime)
        template.names = TestCertificates.localNames
        if let host, let bytes = Self.bytes(of: NWEndpoint.Host(host)) { template.names.append(.address(bytes)) }
        do {
            let issued = try template.issue()
            guard let identity = sec_identity_create(SecIdentity(issued)) else {
                throw CommandFailure("cannot make a certificate")
            }
            self.identity = identity
            fingerprint = Hexadecimal.text(issued.certificates[0].fingerprint)
        } catch let failure as TLSFailure {
            throw CommandFailure("cannot make a certificate", failure)
        }
    }

    /// The first label of this host's name; `nil` if it is not a DNS name.
    static var hostName: String? {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return nil }
        let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let label = name.split(separator: ".").first.map(String.init)
        return label?.utf8.allSatisfy({
            ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2D
        }) == true
            ? label : nil
    }

    /// An address's bytes; `nil` for a name.
    static func bytes(of host: NWEndpoint.Host) -> [UInt8]? {
        switch host {
        case .ipv4(let address): Array(address.rawValue)
        case .ipv6(let address): Array(address.rawValue)
        default: nil
        }
    }
}
