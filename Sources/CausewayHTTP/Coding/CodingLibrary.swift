internal import CCausewayLibraries
internal import CausewayHTTPProtocols

/// The system's compression libraries, each loaded on first use.
enum CodingLibrary: Sendable {
    case zlib
    case brotli
    case zstd

    init(_ coding: ContentCoding) {
        switch coding {
        case .gzip, .deflate: self = .zlib
        case .brotli: self = .brotli
        case .zstandard: self = .zstd
        }
    }

    /// Loads the library once per process. Returns an error message with the package to install, or `nil` if the library is loaded.
    var problem: String? { cw_coding_load(number).map { String(cString: $0) } }

    /// Tries to load the library from another file, for tests. The loaded library is not used later.
    ///
    /// Returns the error message, or `nil` on success.
    func probe(_ name: String) -> String? {
        var message = [CChar](repeating: 0, count: 512)
        if cw_coding_probe(number, name, &message, message.count) { return nil }
        return message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    private var number: cw_coding_library {
        switch self {
        case .zlib: CW_LIBRARY_ZLIB
        case .brotli: CW_LIBRARY_BROTLI
        case .zstd: CW_LIBRARY_ZSTD
        }
    }
}
