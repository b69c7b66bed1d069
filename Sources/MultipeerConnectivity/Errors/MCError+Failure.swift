internal import CausewayPeers
internal import Foundation

extension MCError {
    /// The error for a failure of the engine. Its description is the reason that the engine gives.
    init(_ failure: PeerFailure) { self.init(failure.mcCode, failure.message) }

    /// - Parameter reason: A description in one line.
    init(_ code: Code, _ reason: String) { self.init(code, userInfo: [NSLocalizedDescriptionKey: reason]) }
}

extension PeerFailure {
    /// The code that stands for the failure in Apple's interface, which has fewer.
    var mcCode: MCError.Code {
        switch code {
        case .left, .declined, .duplicate, .identityChanged, .unverified, .closing, .notConnected, .network:
            .notConnected
        case .timedOut: .timedOut
        case .unsupported, .version: .unsupported
        case .invalid: .invalidParameter
        case .full, .congested: .unavailable
        case .cancelled: .cancelled
        default: .unknown
        }
    }
}
