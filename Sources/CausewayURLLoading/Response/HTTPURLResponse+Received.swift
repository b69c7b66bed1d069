internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

extension HTTPURLResponse {
    /// Creates the response from a head that the server sent.
    convenience init(_ head: HTTPResponseHead, to request: URLRequest) {
        let version =
            switch head.version {
            case .http11: "HTTP/1.1"
            case .http2: "HTTP/2.0"
            default: "HTTP/\(head.version.major).\(head.version.minor)"
            }
        self.init(
            url: request.url, statusCode: head.status, version: version, fields: head.fields,
            isDecoded: ContentDecoding.isNeeded(for: head.fields))
    }

    /// Whether the content extends from the head to the end of the connection (RFC 9112 §6.3). The task of such a
    /// response can become a stream task.
    var endsWithConnection: Bool {
        versionText.hasPrefix("HTTP/1.") && !isContentDecoded && statusCode != 204 && statusCode != 304
            && !fields.contains("Content-Length") && !fields.contains("Transfer-Encoding")
    }
}
