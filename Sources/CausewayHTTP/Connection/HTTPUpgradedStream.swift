internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

/// A connection whose server switched to another protocol. It belongs to the observer of the request and no longer to the engine.
///
/// Releasing the stream closes the connection.
package final class HTTPUpgradedStream: Sendable {
    private struct State {
        /// The bytes that arrived together with the head of the response.
        var rest: Data
        var isClosed = false
    }

    private let transport: any HTTPTransport
    private let state: LockedValue<State>

    init(_ transport: any HTTPTransport, _ rest: Data) {
        self.transport = transport
        state = LockedValue(State(rest: rest))
    }

    deinit { close(isInterrupted: true) }

    /// Receives at least one byte, unless the stream ends. One receive at a time.
    ///
    /// - Parameter limit: The maximum number of bytes. Bytes that arrived together with the head can exceed it.
    package func receive(atMost limit: Int, _ completion: @escaping @Sendable (HTTPArrival) -> Void) {
        let rest = state.withLock { state in
            defer { state.rest = Data() }
            return state.rest
        }
        if rest.isEmpty {
            transport.receive(atMost: limit, completion)
        } else {
            completion(HTTPArrival(content: rest))
        }
    }

    /// Sends bytes. Calls the completion when the transport has processed them.
    package func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void) {
        transport.send(content, completion)
    }

    /// Closes the connection. Aborts it if `isInterrupted` is `true`. Only the first call has an effect.
    package func close(isInterrupted: Bool) {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { transport.close(isInterrupted: isInterrupted) }
    }
}
