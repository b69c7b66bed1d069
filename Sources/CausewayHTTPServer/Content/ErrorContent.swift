internal import CausewayHTTPProtocols
internal import FoundationEssentials

/// The server's error responses.
enum ErrorContent {
    static func response(_ error: HTTPServerError) -> HTTPServerResponse {
        // An invalid status becomes 500 (RFC 9110 §15.6.1).
        let status = (200...599).contains(error.status) ? error.status : 500
        guard status != 204, status != 205, status != 304 else { return HTTPServerResponse(status: status) }
        let reason = HTTPStatus.reason(status)
        return .text((error.message.isEmpty ? reason : error.message) + "\n", status: status)
    }

    /// Returns the response for a handler's error. An unknown error's text is not sent, because it can contain secrets.
    static func response(for error: any Error) -> HTTPServerResponse {
        response(error as? HTTPServerError ?? HTTPServerError(status: 500))
    }
}
