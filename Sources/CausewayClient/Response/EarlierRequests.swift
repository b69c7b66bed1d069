internal import CausewayURLLoading
package import Foundation

/// The fate of the requests that a call sent before its last one. It decides whether the whole call may be repeated.
package enum EarlierRequests: Comparable, Sendable {
    /// There was none, or none of them reached the server.
    case none
    /// The server refused each request that reached it, without applying the request.
    case refused
    /// The server may have applied a request.
    case unknown

    /// Errors that occur before any byte of a request reaches the server.
    package static let unreached: Set<URLError.Code> = [
        .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet, .dataNotAllowed,
        .internationalRoamingOff, .callIsActive, .secureConnectionFailed, .serverCertificateHasBadDate,
        .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired, .resourceUnavailable,
    ]

    /// Returns the fate of a request that was answered with this status, of 400 or higher.
    init(status: Int) {
        // A status from 400 to 499, and 503, states that the server did not apply the request.
        self = (400..<500).contains(status) || status == 503 ? .refused : .unknown
    }

    /// Returns the fate of a request that failed without a response.
    init(after error: (any Error)?) {
        guard let error = error as? URLError, Self.unreached.contains(error.code), !error.isAfterMethodChange else {
            self = .unknown
            return
        }
        self = .none
    }
}
