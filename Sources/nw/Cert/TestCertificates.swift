import Causeway
import CausewaySystem
import CausewayTLS

/// Makes the certificates for `nw cert`.
struct TestCertificates {
    /// The tolerated clock difference between test hosts, in seconds.
    private static let tolerance: Int64 = 3_600

    private let notBefore: Int64
    private let notAfter: Int64

    init(days: Int) {
        let now = Int64(time(nil))
        notBefore = now - Self.tolerance
        notAfter = now + Int64(days) * 86_400
    }

    func authority() throws(TLSFailure) -> TLSIdentity {
        let host = MadeCertificate.hostName.map { " of \($0)" } ?? ""
        var template = CertificateTemplate(
            subject: String("nw test authority\(host)".prefix(64)), notBefore: notBefore, notAfter: notAfter)
        template.isAuthority = true
        template.pathLength = 0
        return try template.issue()
    }

    func server(_ names: [SubjectAlternativeName], by authority: TLSIdentity) throws(TLSFailure) -> TLSIdentity {
        var template = CertificateTemplate(subject: "nw test server", notBefore: notBefore, notAfter: notAfter)
        template.names = names
        template.usages = [.server]
        return try template.issue(by: authority)
    }

    func client(_ name: String, by authority: TLSIdentity) throws(TLSFailure) -> TLSIdentity {
        var template = CertificateTemplate(subject: name, notBefore: notBefore, notAfter: notAfter)
        template.usages = [.client]
        return try template.issue(by: authority)
    }

    // MARK: Names

    /// This host's names and addresses.
    static var localNames: [SubjectAlternativeName] {
        let loopback: [SubjectAlternativeName] = [
            .name("localhost"), .address([127, 0, 0, 1]), .address([UInt8](repeating: 0, count: 15) + [1]),
        ]
        return loopback + (MadeCertificate.hostName.map { [.name($0), .name("\($0).local")] } ?? [])
    }

    /// Reads a host name, which may begin with `*.`, or an address. Returns `nil` for other text.
    static func alternativeName(_ text: String) -> SubjectAlternativeName? {
        if let bytes = MadeCertificate.bytes(of: NWEndpoint.Host(text)) { return .address(bytes) }
        let labels = (text.hasPrefix("*.") ? text.dropFirst(2) : text[...])
            .split(separator: ".", omittingEmptySubsequences: false)
        let areValid = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy(isLetterDigitOrHyphen)
        }
        return areValid && text.utf8.count <= 253 ? .name(text.lowercased()) : nil
    }

    private static func isLetterDigitOrHyphen(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
