package import Causeway
package import CausewayHTTPProtocols
package import CausewayProtocols
internal import CausewayRuntime
internal import CausewayTypes

/// Sends HTTP requests over a pool of connections.
///
/// The engine closes its connections in ``shutDown()``, or when the engine and all of its responses are released.
package final class HTTPEngine: Sendable {
    package struct Configuration: Sendable {
        package var limits = PoolLimits()
        /// The limits and timeouts of HTTP/1.1 connections.
        package var http1 = HTTP1Client.Configuration()
        /// The limits, windows and timeouts of HTTP/2 connections.
        package var http2 = HTTP2Configuration()
        /// Whether secure connections offer HTTP/2.
        package var offersHTTP2 = true
        /// Returns whether connections without TLS to an origin use HTTP/2 without negotiation (RFC 9113 §3.3).
        package var usesPriorKnowledge: @Sendable (HTTPOrigin) -> Bool = { _ in false }
        /// If an HTTP/2 connection has received nothing for this time, its next request also sends a ping.
        package var pingDelay: Duration = .seconds(10)
        /// The time within which any byte must arrive after an HTTP/2 connection has sent a ping. If none arrives, the
        /// connection ends.
        package var pingTimeout: Duration = .seconds(10)
        /// Whether a connection's first request may be sent as TLS early data. Only a request with a safe method and
        /// without content is sent early, because an attacker can replay early data (RFC 8446 §8).
        package var usesEarlyData = false
        /// Returns the parameters for connections to an origin. They determine TLS, proxies and the interfaces.
        package var makeParameters: @Sendable (HTTPOrigin) -> NWParameters = HTTPEngine.defaultParameters(for:)
        /// Whether HTTP proxies forward requests without TLS (RFC 9112 §3.2.2). If `false`, these requests are sent
        /// through tunnels.
        package var usesForwarding = true
        /// Returns a name that identifies the proxies for an origin; `nil` if no name applies.
        ///
        /// If two origins have equal names, one connection can carry the requests of both. These origins share idle
        /// connections. The name is `nil` if there are no proxies, or if some of them do not forward plain requests.
        package var forwardingRoute: @Sendable (HTTPOrigin) -> String? = { _ in nil }
        /// The alternative services; `nil` to connect to origins only.
        package var alternatives: (any AlternativeChoosing)?
        /// Receives each new connection before it starts, for programs that show how connections are established.
        package var connectionCreated: (@Sendable (NWConnection) -> Void)?

        package init() {}
    }

    let core: HTTPEngineCore

    package convenience init(_ configuration: Configuration = Configuration()) {
        let dialer = NetworkDialer(
            makeParameters: configuration.makeParameters, usesEarlyData: configuration.usesEarlyData,
            usesForwarding: configuration.usesForwarding, connectionCreated: configuration.connectionCreated)
        self.init(dialer, LoopClock(), configuration)
    }

    init(_ dialer: any HTTPDialer, _ clock: any HTTPClock, _ configuration: Configuration = Configuration()) {
        core = HTTPEngineCore(dialer, clock, configuration)
    }

    deinit { core.shutDown() }

    /// The number of connections, including those that are being established.
    package var connectionCount: Int { core.connectionCount }

    /// Calls a closure that resumes a task.
    ///
    /// On an event loop's thread, the call waits until the loop has handled all events that it received together.
    /// Otherwise the resumed task could preempt the loop. On other threads, the closure is called at once.
    package static func resumeTask(_ body: @escaping @Sendable () -> Void) { OffLoopTask.resume(body) }

    /// Closes all connections. Requests in progress and later requests fail with ``HTTPFailure/closed``.
    package func shutDown() { core.shutDown() }

    /// Sends a request and reports its events to an observer. The engine retains the observer until the request ends.
    ///
    /// - Parameter prepare: Receives the handle before the request starts. An observer that stops reading needs the
    ///   handle for the first event, which can arrive before this method returns. The closure must not cancel the
    ///   request.
    @discardableResult
    package func start(
        _ request: HTTPRequestValue, body: HTTPRequestBody = .none, observer: any HTTPResponseObserver,
        prepare: (HTTPRequestHandle) -> Void = { _ in }
    ) -> HTTPRequestHandle {
        start(request, body, observer, isBuffered: false, prepare: prepare)
    }

    /// Sends a request and waits for the response head.
    ///
    /// Cancellation: the request fails with ``HTTPFailure/cancelled``. If sending had begun, an HTTP/1.1 connection is
    /// closed, and an HTTP/2 stream is reset.
    package func execute(
        _ request: HTTPRequestValue, body: HTTPRequestBody = .none
    ) async throws(HTTPFailure) -> HTTPResponseStream {
        if Task.isCancelled { throw .cancelled }
        let reader = HTTPResponseReader()
        let handle = start(request, body, reader, isBuffered: true)
        let outcome = await withTaskCancellationHandler {
            await reader.awaitHead()
        } onCancel: {
            handle.cancel()
        }
        return HTTPResponseStream(try outcome.get(), reader, handle, self)
    }

    private func start(
        _ request: HTTPRequestValue, _ body: HTTPRequestBody, _ observer: any HTTPResponseObserver, isBuffered: Bool,
        prepare: (HTTPRequestHandle) -> Void = { _ in }
    ) -> HTTPRequestHandle {
        let exchange = core.makeExchange(request, body, observer, isBuffered: isBuffered)
        let handle = HTTPRequestHandle(exchange: exchange, core: core)
        prepare(handle)
        // CONNECT is rejected, because it turns the connection into a tunnel. Upgrade switches the connection's
        // protocol, so it is rejected unless the observer expects it (`isUpgrade`).
        if request.method == "CONNECT" {
            exchange.fail(.invalidRequest(.misuse("method CONNECT")))
        } else if request.fields.contains("Upgrade"), !request.isUpgrade {
            exchange.fail(.invalidRequest(.misuse("field Upgrade")))
        } else {
            core.start(exchange)
        }
        return handle
    }
}
