import CausewayTLS
import CausewayWire
import FoundationEssentials

/// An incremental SHA-256, computed by OpenSSL if it is installed, otherwise by portable code.
struct ContentDigest {
    /// The digest size in bytes.
    static let byteCount = SHA256.byteCount

    private let library: LibrarySHA256?
    private var portable = SHA256()

    /// - Parameter isPortable: Whether to use portable code even if OpenSSL is installed.
    init(isPortable: Bool = false) {
        library = isPortable ? nil : LibrarySHA256()
    }

    mutating func update(_ content: Data) {
        guard let library else { return portable.update(content.bytes) }
        content.withUnsafeBytes { library.update($0) }
    }

    /// Ends the input and returns the digest.
    mutating func finish() -> [UInt8] { library?.finish() ?? portable.finish() }
}
