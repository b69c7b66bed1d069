internal import CausewayHTTP
internal import CausewayProtocols
internal import Foundation

/// A load that can continue after a failed exchange.
protocol RecoveringLoad: CachedLoad, ProxiedLoad {
    /// The resumable upload; `nil` for other requests.
    var uploading: RunningUpload? { get }
}

/// Handles an exchange that failed. It either continues the load, for example with a stale stored response, or makes
/// the load fail.
struct FailedExchange: Sendable {
    let load: any RecoveringLoad
    private let failure: HTTPFailure

    init(of load: any RecoveringLoad) {
        self.load = load
        failure = load.withState { $0.exchangeFailure }
    }

    /// Continues after an exchange that failed without a response, or fails the load.
    func recover() {
        if ProxiedExchange(load: load).isAnswered(failure) { return }
        // The server could not be reached. Use a stale stored response, if the request or the response permits this.
        // Neither of them may forbid it (RFC 5861 §4).
        if let cache = load.cache, cache.permitsStale {
            return StoredAnswer(load: load, cache: cache).deliverConfirmed()
        }
        if repeatsHandshake() { return }
        let reason = makeReason()
        if let upload = load.uploading, InterruptedUpload(load: load, upload: upload).resumes(after: reason) { return }
        load.fail(reason)
    }

    /// Fails the load with the exchange's error.
    func fail() { load.fail(makeReason()) }

    /// Returns the reason why the load failed. It includes the server's certificate chain if the chain was rejected.
    private func makeReason() -> LoadFailure {
        let origin = load.origin
        let rejection = origin.isSecure ? load.network.challenges.takeRejection(origin) : nil
        return LoadFailure(failure, rejection: rejection, load.request)
    }

    /// Starts an authentication again if its connection closed between two authentication messages. Returns `false` if
    /// the exchange failed for another reason.
    private func repeatsHandshake() -> Bool {
        guard let (known, step) = load.withState({ $0.handshakeBroke() }) else { return false }
        load.perform(step)
        let reason = LoadFailure(.noResponse(nil), rejection: nil, load.request)
        known.negotiation.begin(for: load) { load.fail(reason) }
        return true
    }
}
