internal import CausewayHTTPProtocols
internal import FoundationEssentials

/// The responses that the server makes for errors.
enum ErrorContent {
    static func response(_ error: HTTPServerError) -> HTTPServerResponse {
        let status = (200...599).contains(error.status) ? error.status : 500
        guard status != 204, status != 205, status != 304 else { return HTTPServerResponse(status: status) }
        let reason = HTTPStatus.reason(status)
        return .text((error.message.isEmpty ? reason : error.message) + "\n", status: status)
    }

    /// Returns the response for an error of a handler. The text of an unknown error stays in the process, because it can contain secrets.
    static func response(for error: any Error) -> HTTPServerResponse {
        response(error as? HTTPServerError ?? HTTPServerError(status: 500))
    }
}
