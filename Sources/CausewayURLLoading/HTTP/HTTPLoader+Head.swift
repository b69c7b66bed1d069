internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Creates the response from a head that the server sent.
    func makeResponse(_ head: HTTPResponseHead) -> HTTPURLResponse {
        HTTPURLResponse(
            url: request.url, statusCode: head.status, version: Self.name(of: head.version),
            fields: head.fields, isDecoded: ContentDecoding.isNeeded(for: head.fields))
    }

    private static func name(of version: HTTPVersion) -> String {
        switch version {
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2.0"
        default: "HTTP/\(version.major).\(version.minor)"
        }
    }
}
