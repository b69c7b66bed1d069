internal import CausewayProtocols
internal import CausewayTypes
internal import CausewayWire
package import FoundationEssentials

/// Where a proxy script comes from.
package enum PACSource: Sendable, CustomDebugStringConvertible {
    case location(PACLocation)
    /// The script itself, in UTF-8.
    case text([UInt8])

    /// Bytes of the longest script.
    static let limit = 1 << 20

    package var debugDescription: String {
        switch self {
        case .location(let location): location.description
        case .text(let bytes): "of \(bytes.count) bytes"
        }
    }

    /// Whether nobody on the way can have written the script.
    var isTrusted: Bool {
        switch self {
        case .location(let location): location.isSecure
        case .text: true
        }
    }
}

/// The URL of a proxy script: of a web server and nothing else.
package struct PACLocation: Sendable, CustomStringConvertible {
    package let url: URL
    let authority: String
    let target: String

    /// - Throws: `.posix(.EPROTONOSUPPORT)` for other schemes than `http` and `https`, `.posix(.EINVAL)` for what has no host.
    package init(_ url: URL) throws(NWError) {
        guard ["http", "https"].contains(url.scheme?.lowercased() ?? "") else { throw .posix(.EPROTONOSUPPORT) }
        guard let host = url.host(percentEncoded: true), !host.isEmpty else { throw .posix(.EINVAL) }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let path = url.path(percentEncoded: true)
        self.url = url
        authority = url.port.map { "\(name):\($0)" } ?? name
        target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
        // Whatever could not be asked for is refused now.
        do throws(UpgradeError) { _ = try fetch() } catch { throw .posix(.EINVAL) }
    }

    var isSecure: Bool { url.scheme?.lowercased() == "https" }

    func fetch() throws(UpgradeError) -> DocumentFetch {
        try DocumentFetch(authority: authority, target: target, limit: PACSource.limit)
    }

    /// Where a redirection leads. A page of `https` may not lead to one that anybody can have written.
    ///
    /// - Throws: `.posix(.EPROTONOSUPPORT)` for what is not on a web server.
    func redirected(to text: String) throws(NWError) -> PACLocation {
        guard let url = URL(string: text, relativeTo: url)?.absoluteURL else { throw .posix(.EPROTO) }
        let other = try PACLocation(url)
        guard other.isSecure || !isSecure else { throw .posix(.EPROTONOSUPPORT) }
        return other
    }

    /// Without credentials, path parameters and query, which may be secret.
    package var description: String {
        let path = url.path(percentEncoded: true)
        return "\(url.scheme?.lowercased() ?? "")://\(authority)\(path.isEmpty ? "/" : path)"
    }
}
