internal import CausewayProtocols
internal import CausewayTypes
internal import CausewayWire
package import FoundationEssentials

/// Where a proxy script comes from: a URL, or the text of the script itself.
package enum PACSource: Sendable, CustomDebugStringConvertible {
    case location(PACLocation)
    /// The script in UTF-8.
    case text([UInt8])

    /// Maximum size of a script in bytes.
    static let limit = 1 << 20

    package var debugDescription: String {
        switch self {
        case .location(let location): location.description
        case .text(let bytes): "of \(bytes.count) bytes"
        }
    }

    /// Whether the script is protected against modification on the network path.
    var isTrusted: Bool {
        switch self {
        case .location(let location): location.isSecure
        case .text: true
        }
    }
}

/// The HTTP or HTTPS URL of a proxy script.
package struct PACLocation: Sendable, CustomStringConvertible {
    package let url: URL
    let authority: String
    let target: String

    /// Creates the location of a proxy script from its URL.
    ///
    /// - Throws: `.posix(.EPROTONOSUPPORT)` for schemes other than `http` and `https`, `.posix(.EINVAL)` for a URL
    ///   without a host.
    package init(_ url: URL) throws(NWError) {
        guard ["http", "https"].contains(url.scheme?.lowercased() ?? "") else { throw .posix(.EPROTONOSUPPORT) }
        guard let host = url.host(percentEncoded: true), !host.isEmpty else { throw .posix(.EINVAL) }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let path = url.path(percentEncoded: true)
        self.url = url
        authority = url.port.map { "\(name):\($0)" } ?? name
        target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
        // Reject a URL that cannot be written into a request.
        do throws(UpgradeError) { _ = try fetch() } catch { throw .posix(.EINVAL) }
    }

    var isSecure: Bool { url.scheme?.lowercased() == "https" }

    func fetch() throws(UpgradeError) -> DocumentFetch {
        try DocumentFetch(authority: authority, target: target, limit: PACSource.limit)
    }

    /// Returns the redirect target. A redirect from `https` to `http` is rejected: with `http`, other hosts on the path
    /// could change the script.
    ///
    /// - Throws: `.posix(.EPROTONOSUPPORT)` for such a redirect and for other schemes, `.posix(.EPROTO)` or
    ///   `.posix(.EINVAL)` for an invalid URL.
    func redirected(to text: String) throws(NWError) -> PACLocation {
        guard let url = URL(string: text, relativeTo: url)?.absoluteURL else { throw .posix(.EPROTO) }
        let other = try PACLocation(url)
        guard other.isSecure || !isSecure else { throw .posix(.EPROTONOSUPPORT) }
        return other
    }

    /// The URL without credentials and query, because both can be secret.
    package var description: String {
        let path = url.path(percentEncoded: true)
        return "\(url.scheme?.lowercased() ?? "")://\(authority)\(path.isEmpty ? "/" : path)"
    }
}
