internal import CausewayHTTPProtocols
internal import Foundation

/// A load that holds a response back while it decides whether another request follows.
protocol HoldingLoad: CachedLoad, DeliveringLoad, ProxiedLoad {
    /// Whether the request opens a WebSocket.
    var isWebSocket: Bool { get }
    /// Delivers a response that refuses the WebSocket requested by the load, and fails the load.
    ///
    /// - Parameter reason: The error in the response, as text; `nil` if the load fails because of the response's
    ///   status.
    func refused(_ response: HTTPURLResponse, _ reason: String?)
}

/// Handles a response that is held back. If another request follows the response, this type starts it. Otherwise it
/// delivers the response.
struct HeldResponse: Sendable {
    let load: any HoldingLoad
    let response: HTTPURLResponse

    /// Creates the handler for a response that the load holds back. Returns `nil` if the load has ended.
    init?(of load: any HoldingLoad) {
        guard let response = load.withState({ $0.response }) else { return nil }
        self.load = load
        self.response = response
    }

    /// Decides whether the load sends another request after this response. The decision may need an answer from the
    /// program.
    func decide(_ followUp: FollowUp) {
        switch followUp {
        case .proxyChallenge: ProxiedExchange(load: load).challenged(response)
        case .challenge: ServerChallenge(load: load, response: response).answer()
        case .retry: retry()
        case .redirect: HeldRedirect(load: load, response: response).propose()
        }
    }

    /// Sends the request again if the response's status permits this. For example, after status 421 the request is sent
    /// on a new connection. If the status does not permit it, the response is delivered.
    private func retry() {
        let isReused = load.withState { $0.isReused }
        let context = RetryContext(
            method: load.request.values.method, connection: isReused ? .reused : .new,
            counts: RetryCounts(repeated: load.isWebSocket ? 1 : 0))
        guard case .retry(let route, _) = RetryRules.decide(.answered(status: response.statusCode), context) else {
            return load.deliverHeld()
        }
        load.withAccess { $0.repeated = route }
        load.sendAgain()
    }

    /// Passes the response and the content that was held back to the task.
    ///
    /// Content that arrives during this call is delivered afterwards.
    func deliver() {
        guard !load.isWebSocket else { return load.refused(response, nil) }
        load.report(.response(response, load.storagePolicy(for: response)))
        let delivery = ContentDelivery(load: load)
        while true {
            let (pieces, step) = load.withState { $0.heldContentTaken() }
            for piece in pieces {
                let destination = load.withState { $0.destination(ofHeld: piece, in: response) }
                delivery.deliver(piece, to: destination)
            }
            guard pieces.isEmpty else { continue }
            load.perform(step)
            return load.updateReading()
        }
    }
}
