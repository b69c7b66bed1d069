internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// The actions of the machine after a failure.
extension HTTPLoader {
    // MARK: The end of the exchange

    /// Continues after an exchange that failed without a response, or fails.
    func recover() {
        let failure = withState { $0.exchangeFailure }
        if ProxiedExchange(load: self).isAnswered(failure) { return }
        // The server could not be reached, and both sides permit the stored response (RFC 5861 §4).
        if let cache, cache.permitsStale { return StoredAnswer(load: self, cache: cache).deliverConfirmed() }
        if repeatsHandshake() { return }
        let reason = loadFailure(failure)
        if !resumesUpload(after: reason) { fail(reason) }
    }

    /// Returns the load's failure. Takes the certificate that was rejected.
    func loadFailure(_ failure: HTTPFailure) -> LoadFailure {
        let origin = self.origin
        let rejection = origin.isSecure ? network.challenges.takeRejection(origin) : nil
        return LoadFailure(failure, rejection: rejection, request)
    }

    // MARK: Uploads

    /// Handles a response that only reports how the upload continues. Returns whether it is one.
    func continuesUpload(_ head: HTTPResponseHead) -> Bool {
        guard let uploading = requests.uploading else { return false }
        apply { $0.pathFound() }
        let (answer, step) = withState { $0.uploadAnswered(head, uploading) }
        perform(step)
        switch answer {
        case .deliver: return false
        case .fail: fail(LoadFailure(.connectionLost))
        case .send, .sendAgain: break
        }
        return true
    }

    /// Continues the upload after its connection broke. Returns `false` if that is impossible.
    private func resumesUpload(after failure: LoadFailure) -> Bool {
        guard let uploading = requests.uploading else { return false }
        switch failure.cause {
        case .connectionLost, .connectionRefused, .hostNotFound, .notConnected: break
        default: return false
        }
        let step = withState { $0.uploadBroke(uploading) }
        guard case .pause = step.action else { return false }
        perform(step)
        return true
    }
}
