internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// The actions of the machine: what follows a held response, a stored one or a failure.
extension HTTPLoader {
    // MARK: Held responses

    /// Handles the held response.
    func decide(_ followUp: FollowUp) {
        guard let response = withState({ $0.response }) else { return }
        switch followUp {
        case .proxyChallenge: ProxiedExchange(load: self).challenged(response)
        case .challenge: ServerChallenge(load: self, response: response).answer()
        case .retry: repeatRequest(after: response)
        case .redirect: HeldRedirect(load: self, response: response).propose()
        }
    }

    /// Sends the request once more if a connection of another kind can help. Otherwise the response is delivered.
    private func repeatRequest(after response: HTTPURLResponse) {
        let isReused = withState { $0.isReused }
        let context = RetryContext(
            method: request.values.method, connection: isReused ? .reused : .new,
            counts: RetryCounts(repeated: isWebSocket ? 1 : 0))
        guard case .retry(let route, _) = RetryRules.decide(.answered(status: response.statusCode), context) else {
            return deliverHeld()
        }
        withAccess { $0.repeated = route }
        sendAgain()
    }

    /// Passes the held response and its content to the task.
    func releaseHeld() {
        guard let response = withState({ $0.response }) else { return }
        guard !isWebSocket else { return refused(response) }
        report(.response(response, storagePolicy(for: response)))
        while true {
            let (pieces, step) = withState { $0.heldContentTaken() }
            for piece in pieces {
                let destination = withState { $0.destination(ofHeld: piece, in: response) }
                ContentDelivery(load: self).deliver(piece, to: destination)
            }
            guard pieces.isEmpty else { continue }
            perform(step)
            return updateReading()
        }
    }

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
