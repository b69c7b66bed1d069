internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

/// An HTTP connection after its handover: the engine has given the connection to the request's observer, and does not
/// use the connection any more. A handover happens when the server switches to another protocol, and when the observer
/// requests the connection in the middle of a response.
///
/// Releasing the stream closes the connection.
package final class HTTPUpgradedStream: Sendable {
    package typealias Reader = @Sendable (HTTPArrival) -> Void

    private struct State {
        /// Input that arrived before the connection was handed over. First come the bytes, then the end or an error.
        var unread: HTTPArrival
        /// Whether a receive is still pending that began before the connection was handed over.
        ///
        /// The result of this receive is passed to ``arrived(_:)``.
        var isReceiving: Bool
        var reader: (limit: Int, completion: Reader)?
        var isClosed = false

        /// Removes and returns buffered input; `nil` if there is none. The end and the error stay for later receives.
        mutating func take(atMost limit: Int) -> HTTPArrival? {
            let content = unread.content ?? Data()
            guard content.count <= limit else {
                unread.content = Data(content.dropFirst(limit))
                return HTTPArrival(content: Data(content.prefix(limit)))
            }
            guard !content.isEmpty || unread.isEnd || unread.error != nil else { return nil }
            defer { unread.content = nil }
            return unread
        }
    }

    private let transport: any HTTPTransport
    private let state: LockedValue<State>

    /// - Parameters:
    ///   - unread: Input that arrived before the connection was handed over.
    ///   - isReceiving: Whether a receive call on the transport is still pending. Its result is later passed to
    ///     ``arrived(_:)``.
    init(_ transport: any HTTPTransport, _ unread: HTTPArrival, isReceiving: Bool = false) {
        self.transport = transport
        state = LockedValue(State(unread: unread, isReceiving: isReceiving))
    }

    deinit { close(isInterrupted: true) }

    /// Receives at least one byte, unless the stream ends. Only one receive may be pending.
    ///
    /// - Parameter limit: The maximum number of bytes.
    package func receive(atMost limit: Int, _ completion: @escaping Reader) {
        let (waiting, mustWait) = state.withLock { state -> (HTTPArrival?, Bool) in
            if let waiting = state.take(atMost: limit) { return (waiting, false) }
            if state.isReceiving { state.reader = (limit, completion) }
            return (nil, state.isReceiving)
        }
        if let waiting { return completion(waiting) }
        if !mustWait { transport.receive(atMost: limit, completion) }
    }

    /// Delivers the result of a receive call that the engine started before it handed over the connection.
    func arrived(_ arrival: HTTPArrival) {
        let (reader, result) = state.withLock { state -> (Reader?, HTTPArrival?) in
            state.isReceiving = false
            state.unread = arrival
            guard let reader = state.reader.take() else { return (nil, nil) }
            return (reader.completion, state.take(atMost: reader.limit))
        }
        if let reader { reader(result ?? arrival) }
    }

    /// Sends bytes. Calls the completion when the kernel has accepted the bytes, or with the error.
    package func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void) {
        transport.send(content, completion)
    }

    /// Ends the sending direction after all content.
    package func sendEnd(_ completion: @escaping @Sendable (NWError?) -> Void) { transport.sendEnd(completion) }

    /// Closes the connection. Aborts it if `isInterrupted` is `true`. Only the first call has an effect.
    package func close(isInterrupted: Bool) {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { transport.close(isInterrupted: isInterrupted) }
    }
}
