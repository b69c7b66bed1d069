internal import FoundationEssentials
internal import CausewaySystem

/// The trust anchors: the program's, the system's, or both.
package struct TrustStore: Sendable {
    private let own: [ParsedCertificate]
    /// Returns the system's anchors; `nil` if the settings do not trust them.
    private let system: (@Sendable () -> SystemAnchors)?

    /// Creates a store. This is fast, because the system's authorities are loaded only for validation.
    init(_ settings: TrustSettings, system: @escaping @Sendable () -> SystemAnchors = { .shared }) {
        // A malformed anchor cannot sign anything, so skip it.
        own = settings.anchors.compactMap { try? ParsedCertificate($0) }
        self.system = settings.includesSystemAnchors ? system : nil
    }

    /// Returns the anchors with this subject, the program's own first.
    func anchors(named name: DistinguishedName) -> [ParsedCertificate] {
        own.filter { $0.fields.subject == name } + (system?().anchors(named: name) ?? [])
    }

    /// Returns whether exactly this certificate is an anchor.
    func contains(_ parsed: ParsedCertificate) -> Bool {
        anchors(named: parsed.fields.subject).contains { $0.der == parsed.der }
    }

    /// Loads the system's authorities if they are not loaded yet. Reads files, which takes milliseconds.
    package static func prepareSystemAnchors() { _ = SystemAnchors.shared }
}

/// The system's authorities by name. A certificate is decoded when a validation first needs it. Thread-safe.
final class SystemAnchors: Sendable {
    /// The system's certificate authorities, which are read once per process. If none are installed, the value is
    /// empty, and no peer is trusted.
    static let shared = SystemAnchors(
        SystemAnchorPlaces(environment: ProcessInfo.processInfo.environment).read())

    private let encodings: [DistinguishedName: [[UInt8]]]
    private let decoded = LockedValue<[DistinguishedName: [ParsedCertificate]]>([:])

    init(_ certificates: [[UInt8]]) {
        var encodings: [DistinguishedName: [[UInt8]]] = [:]
        for der in certificates {
            if let name = try? CertificateFields.subject(of: der) { encodings[name, default: []].append(der) }
        }
        self.encodings = encodings
    }

    var count: Int { encodings.values.reduce(0) { $0 + $1.count } }

    func anchors(named name: DistinguishedName) -> [ParsedCertificate] {
        guard let encodings = encodings[name] else { return [] }
        return decoded.withLock { decoded in
            if let found = decoded[name] { return found }
            let found = encodings.compactMap { der in
                (try? Certificate(der: der)).flatMap { try? ParsedCertificate($0) }
            }
            decoded[name] = found
            return found
        }
    }
}

/// Locations of the system's authority certificates.
struct SystemAnchorPlaces {
    var files: [String]
    var folders: [String]

    /// Uses the variables `SSL_CERT_FILE` and `SSL_CERT_DIR` (directories separated by colons). If both are empty or
    /// missing, uses the locations on known distributions.
    init(environment: [String: String]) {
        let file = environment["SSL_CERT_FILE"] ?? ""
        let folder = environment["SSL_CERT_DIR"] ?? ""
        if file.isEmpty, folder.isEmpty {
            files = Self.usualFiles
            folders = Self.usualFolders
        } else {
            files = file.isEmpty ? [] : [file]
            folders = folder.split(separator: ":").map(String.init)
        }
    }

    private static let usualFiles = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch, Gentoo, Alpine
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
        "/etc/pki/tls/certs/ca-bundle.crt",  // older Fedora, RHEL
        "/etc/ssl/ca-bundle.pem",  // openSUSE
        "/etc/ssl/cert.pem",  // Alpine without the bundle
    ]
    private static let usualFolders = ["/etc/ssl/certs", "/etc/pki/tls/certs"]
    private static let largestFile = 16 << 20
    private static let maximumFiles = 4_096

    /// Returns the DER certificates from the first file that contains any. If there is no such file, returns those from
    /// the first directory that contains any.
    func read() -> [[UInt8]] {
        for file in files {
            let found = Self.certificates(inFile: file)
            if !found.isEmpty { return found }
        }
        for folder in folders {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let found = names.sorted().prefix(Self.maximumFiles).flatMap {
                Self.certificates(inFile: folder + "/" + $0)
            }
            var seen: Set<[UInt8]> = []
            let unique = found.filter { seen.insert($0).inserted }
            if !unique.isEmpty { return unique }
        }
        return []
    }

    private static func certificates(inFile path: String) -> [[UInt8]] {
        guard let content = FileManager.default.contents(atPath: path), content.count <= largestFile else { return [] }
        return blocks(in: [UInt8](content))
    }

    /// Parses the certificates in PEM text (RFC 7468), in order. Ignores malformed blocks.
    static func blocks(in text: [UInt8]) -> [[UInt8]] {
        var result: [[UInt8]] = []
        var body = Data()
        var isInside = false
        for line in text.split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "-----BEGIN ".utf8) {
                isInside = line.dropFirst(11).starts(with: "CERTIFICATE-----".utf8)
                body.removeAll(keepingCapacity: true)
            } else if line.starts(with: "-----END ".utf8) {
                if isInside, let der = Data(base64Encoded: body, options: .ignoreUnknownCharacters), !der.isEmpty {
                    result.append([UInt8](der))
                }
                isInside = false
            } else if isInside {
                body.append(contentsOf: line)
            }
        }
        return result
    }
}
