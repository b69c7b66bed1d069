internal import CCausewayOpenSSL
internal import FoundationEssentials

/// Certificates that chains may end in, in the form that the library searches.
struct TrustStore: Sendable {
    let object: SharedObject

    /// The store for these settings. That of the system alone is read once and shared by the whole process.
    static func store(for settings: TrustSettings) throws(TLSFailure) -> TrustStore {
        try OpenSSLLibrary.load()
        if settings.anchors.isEmpty, settings.includesSystemAnchors, let system { return system }
        let anchors = settings.includesSystemAnchors ? systemAnchors + settings.anchors : settings.anchors
        guard let store = TrustStore(anchors) else { throw TLSFailure(.library, OpenSSLLibrary.takeReason()) }
        return store
    }

    private init?(_ anchors: [Certificate]) {
        guard let pointer = cw_X509_STORE_new() else { return nil }
        object = SharedObject(owning: pointer, .store)
        for anchor in anchors { cw_X509_STORE_add_cert(pointer, anchor.object.pointer) }
        cw_ERR_clear_error()
    }

    private static let system = TrustStore(systemAnchors)

    /// The authorities of this system. Empty when none are installed: then nobody is trusted.
    static let systemAnchors: [Certificate] = SystemAnchorPlaces(environment: ProcessInfo.processInfo.environment)
        .read()
}

/// Where this system keeps its authorities.
struct SystemAnchorPlaces {
    var files: [String]
    var folders: [String]

    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` (folders with colons between) replace the distributions' places.
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
    private static let mostFiles = 4_096

    /// The certificates of the first file that has any; failing that, of the first folder.
    func read() -> [Certificate] {
        for file in files {
            let found = Self.certificates(inFile: file)
            if !found.isEmpty { return found }
        }
        for folder in folders {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let found = names.sorted().prefix(Self.mostFiles).flatMap {
                Self.certificates(inFile: folder + "/" + $0)
            }
            var seen: Set<[UInt8]> = []
            let unique = found.filter { seen.insert($0.fingerprint).inserted }
            if !unique.isEmpty { return unique }
        }
        return []
    }

    private static func certificates(inFile path: String) -> [Certificate] {
        guard let content = FileManager.default.contents(atPath: path), content.count <= largestFile else { return [] }
        return (try? Certificate.all(pem: [UInt8](content))) ?? []
    }
}
