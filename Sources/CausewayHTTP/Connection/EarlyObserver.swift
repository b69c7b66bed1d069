internal import CausewayHTTPProtocols
internal import CausewayTypes
internal import CausewayWire

/// Reports the events of a connection that sent early data.
///
/// If the handshake fails, requests without a response count as not started. They are sent again over another
/// connection. If that connection cannot be established, its failure gives the reason.
final class EarlyObserver: HTTPConnectionObserver {
    private let base: any HTTPConnectionObserver
    private let transport: EarlyTransport

    init(_ base: any HTTPConnectionObserver, _ transport: EarlyTransport) {
        self.base = base
        self.transport = transport
    }

    var now: Duration { base.now }

    func interrupted(_ exchange: HTTPExchange, _ occasion: RetryOccasion, _ failure: HTTPFailure) {
        let isUnsent = occasion == .closedBeforeAnswer && transport.hasFailed
        base.interrupted(exchange, isUnsent ? .notStarted : occasion, failure)
    }

    func waits(_ id: PoolConnectionID, _ reason: NWError) { base.waits(id, reason) }
    func connected(_ id: PoolConnectionID, _ connection: any HTTPConnection, _ facts: PoolConnectionFacts) {
        base.connected(id, connection, facts)
    }
    func connectedEarly(
        _ id: PoolConnectionID, _ connection: any HTTPConnection, _ facts: PoolConnectionFacts
    ) -> Bool {
        base.connectedEarly(id, connection, facts)
    }
    func connectFailed(_ id: PoolConnectionID, _ error: NWError) { base.connectFailed(id, error) }
    func finished(_ id: PoolConnectionID, isReusable: Bool, _ keepAlive: KeepAlive) {
        base.finished(id, isReusable: isReusable, keepAlive)
    }
    func streamLimitChanged(_ id: PoolConnectionID, to limit: Int) { base.streamLimitChanged(id, to: limit) }
    func retired(_ id: PoolConnectionID) { base.retired(id) }
    func completed(_ exchange: HTTPExchange) { base.completed(exchange) }
    func failed(_ exchange: HTTPExchange, _ failure: HTTPFailure) { base.failed(exchange, failure) }
    func closed(_ id: PoolConnectionID) { base.closed(id) }
}
