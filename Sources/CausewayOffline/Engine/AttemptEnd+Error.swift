internal import CausewayClient
internal import CausewayURLLoading
internal import Foundation

extension AttemptEnd {
    /// Errors that a retry cannot fix.
    private static let invalid: Set<URLError.Code> = [
        .badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection, .fileDoesNotExist, .fileIsDirectory,
    ]

    /// Classifies a client error.
    init(_ error: any Error) {
        guard let failure = error as? HTTPClientError else {
            self = .interrupted
            return
        }
        switch failure.code {
        case .invalidRequest, .foreignOrigin, .file: self = .unsendable(failure)
        // The client's last try failed before it sent the request. A later attempt may succeed, for example when an
        // interceptor of the client can obtain a token.
        case .interceptor, .meteredNetwork: self = .unreached(after: failure.earlier)
        // The server has answered, but the response's content exceeds the client's limit. The response's status is
        // still valid.
        case .contentTooLong: self = .response(status: failure.status ?? 200)
        default: self.init(transport: failure)
        }
    }

    private init(transport failure: HTTPClientError) {
        guard let error = failure.underlying as? URLError else {
            self = .lost
            return
        }
        if EarlierRequests.unreached.contains(error.code) {
            self = .unreached(after: failure.earlier)
        } else if Self.invalid.contains(error.code) {
            self = .unsendable(failure)
        } else if error.code == .noPermissionsToReadFile {
            // The content could not be read, for example without a free descriptor. The server has no complete request.
            self = failure.earlier == .unknown ? .lost : .notSent
        } else if error.code == .userAuthenticationRequired || error.code == .userCancelledAuthentication {
            self = .response(status: 401)
        } else {
            // After any other error, the server may have processed the request. A timeout is an example.
            self = error.code == .cancelled ? .interrupted : .lost
        }
    }

    /// Returns the end of an attempt whose last request did not reach the server. An interceptor of the client may have
    /// demanded that an earlier request be sent again, and that request may have reached the server.
    private static func unreached(after earlier: EarlierRequests) -> AttemptEnd {
        switch earlier {
        case .none: .noWay
        case .refused: .noWayAfterRefusal
        case .unknown: .lost
        }
    }

    /// Returns the end of an attempt whose last request could not be sent.
    private static func unsendable(_ failure: HTTPClientError) -> AttemptEnd {
        failure.earlier == .unknown ? .lost : .invalid(failure.message)
    }
}
