internal import CausewayClient
internal import CausewayURLLoading
internal import Foundation

extension AttemptEnd {
    /// Errors before any request byte reached the server.
    private static let noWay: Set<URLError.Code> = [
        .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet, .dataNotAllowed,
        .internationalRoamingOff, .callIsActive, .secureConnectionFailed, .serverCertificateHasBadDate,
        .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired, .resourceUnavailable,
    ]
    /// Errors that a retry cannot fix.
    private static let invalid: Set<URLError.Code> = [
        .badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection, .fileDoesNotExist,
        .noPermissionsToReadFile,
        .fileIsDirectory,
    ]

    /// Classifies a client error.
    init(_ error: any Error) {
        guard let failure = error as? HTTPClientError else {
            self = .interrupted
            return
        }
        switch failure.code {
        case .invalidRequest, .foreignOrigin, .file: self = .invalid(failure.message)
        // The client's final try failed before it sent the request. A later attempt may succeed, for example when an
        // interceptor of the client can obtain a token.
        case .interceptor, .meteredNetwork: self = .noWay
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
        if Self.noWay.contains(error.code) {
            self = .noWay
        } else if Self.invalid.contains(error.code) {
            self = .invalid(failure.message)
        } else if error.code == .userAuthenticationRequired || error.code == .userCancelledAuthentication {
            self = .response(status: 401)
        } else {
            // After any other error, for example a timeout, the server may have processed the request.
            self = error.code == .cancelled ? .interrupted : .lost
        }
    }
}
