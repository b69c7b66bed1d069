internal import CausewayHTTP
internal import CausewayProtocols
internal import Foundation

/// A WebSocket connection whose handshake succeeded.
final class WebSocketOpening: Sendable {
    let response: HTTPURLResponse
    /// The negotiated subprotocol.
    let subprotocol: String?
    /// Compresses messages; `nil` if the server did not agree to compression.
    let codec: (any WebSocketCodec)?
    let stream: HTTPUpgradedStream

    init(
        _ response: HTTPURLResponse, subprotocol: String?, _ codec: (any WebSocketCodec)?, _ stream: HTTPUpgradedStream
    ) {
        self.response = response
        self.subprotocol = subprotocol
        self.codec = codec
        self.stream = stream
    }
}

extension TaskCore {
    /// The task's WebSocket; `nil` for other tasks.
    var webSocket: WebSocketChannel? {
        if case .webSocket(let channel) = plan.outlet { channel } else { nil }
    }

    /// Returns the request for a WebSocket handshake, which is always a GET request without content (RFC 6455 §4.1).
    /// Requests of other tasks are returned unchanged.
    func prepared(_ request: URLRequest) -> URLRequest {
        guard webSocket != nil else { return request }
        var request = request
        request.change { values in
            values.setMethod("GET")
            values.body = .none
        }
        return request
    }

    /// Returns a loader that performs the WebSocket handshake.
    func webSocketLoader(for url: URL, _ attempt: LoadAttempt) throws(LoadFailure) -> any Loader {
        guard ["ws", "wss", "http", "https"].contains(url.scheme?.lowercased()) else {
            throw LoadFailure(.unsupportedURL)
        }
        guard url.host?.isEmpty == false else { throw LoadFailure(.badURL) }
        return HTTPLoader(session.core.network, for: attempt)
    }

    /// Handles the completed handshake: the WebSocket takes over the connection from the HTTP loader, which performed
    /// the handshake. The idle timeout ends.
    func upgraded(_ opening: WebSocketOpening) {
        guard let webSocket else { return }
        let isWanted = state.withLock { state in
            guard !state.life.isOver, !state.outcome.hasEnded else { return false }
            state.content.response = opening.response
            state.clock.endIdle()
            state.load.loader = webSocket
            return true
        }
        guard isWanted else { return opening.stream.close(isInterrupted: true) }
        webSocket.attach(opening.stream, opening.codec)
        notifyWebSocket(.opened) { delegate, session, task in
            delegate.urlSession(session, webSocketTask: task, didOpenWithProtocol: opening.subprotocol)
        }
        webSocket.demandChanged()
        webSocket.start()
    }

    /// Closes the WebSocket on behalf of the program. If the WebSocket is not open, cancels the task.
    func closeWebSocket(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data?) {
        guard webSocket?.close(WebSocketCloseReport(code, reason)) == true else { return cancel() }
        // Set the task's state to `canceling` until the task ends. The WebSocket still waits for the peer's close frame
        // before the task ends.
        state.withLock { state in _ = state.life.cancel() }
    }

    /// Tells the delegate that the peer has sent a close frame.
    func webSocketClosed(_ report: WebSocketCloseReport) {
        notifyWebSocket(.closed) { delegate, session, task in
            delegate.urlSession(session, webSocketTask: task, didCloseWith: report.code, reason: report.reason)
        }
    }

    /// Completes the task after the WebSocket has ended.
    func webSocketEnded(_ error: (any Error)?) {
        let mustDrain = state.withLock { state in state.mailbox.post(.run { [self] in finish(error) }) }
        if mustDrain { drainLater() }
    }

    /// Calls a method on the first delegate that implements it.
    private func notifyWebSocket(
        _ method: DelegateMethod,
        _ call: @escaping @Sendable (any URLSessionWebSocketDelegate, URLSession, URLSessionWebSocketTask) -> Void
    ) {
        let candidates = delegates.compactMap(\.webSocket)
        guard !candidates.isEmpty, let task = task as? URLSessionWebSocketTask else { return }
        calls.add { [session] in
            for delegate in candidates where DelegateProbe.call(delegate, method, { call(delegate, session, task) }) {
                return
            }
        }
    }
}
