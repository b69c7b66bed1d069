internal import CausewayPeers
internal import Foundation

extension MCError {
    /// Creates an error from an engine failure, with the failure's message as description.
    init(_ failure: PeerFailure) { self.init(failure.mcCode, failure.message) }

    /// - Parameters:
    ///   - code: The kind of error.
    ///   - reason: A one-line description.
    init(_ code: Code, _ reason: String) { self.init(code, userInfo: [NSLocalizedDescriptionKey: reason]) }
}

extension PeerFailure {
    /// The ``MCError`` code that is closest to this failure's code. Several failure codes have the same ``MCError``
    /// code, because Apple's interface has fewer codes.
    var mcCode: MCError.Code {
        switch code {
        case .left, .declined, .duplicate, .identityChanged, .unverified, .closing, .notConnected, .network:
            .notConnected
        case .timedOut: .timedOut
        case .unsupported, .version: .unsupported
        case .invalid: .invalidParameter
        case .full, .congested, .excess: .unavailable
        case .cancelled: .cancelled
        default: .unknown
        }
    }
}
