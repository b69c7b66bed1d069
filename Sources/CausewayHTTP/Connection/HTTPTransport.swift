internal import Causeway
internal import CausewayRuntime
internal import CausewayTypes
internal import FoundationEssentials

/// The byte stream that carries a connection. Callbacks may run on any thread, even before the method that they were passed to returns.
protocol HTTPTransport: Sendable {
    /// Starts the transport. Calls `report` when the stream is ready or when it fails, and again for each later change, such as a failure
    /// of the established stream.
    func start(_ report: @escaping @Sendable (Result<PoolFacts, NWError>) -> Void)
    /// Receives at least one byte.
    func receive(atMost limit: Int, _ completion: @escaping @Sendable (HTTPArrival) -> Void)
    /// Sends bytes. Calls the completion when the transport has processed them.
    func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void)
    /// Closes the stream. Aborts it if `isInterrupted` is `true`.
    func close(isInterrupted: Bool)
}

/// Properties of an established transport.
struct PoolFacts: Sendable {
    /// The protocol that TLS negotiated (RFC 7301); `nil` for none.
    var applicationProtocol: String?
}

/// The result of one receive.
struct HTTPArrival: Sendable {
    var content: Data?
    /// Whether the peer ended the stream.
    var isEnd = false
    var error: NWError?
}

extension NWConnection: HTTPTransport {
    func start(_ report: @escaping @Sendable (Result<PoolFacts, NWError>) -> Void) {
        stateUpdateHandler = { state in
            switch state {
            case .ready: report(.success(PoolFacts()))
            case .waiting(let error), .failed(let error): report(.failure(error))
            case .setup, .preparing, .cancelled: break
            }
        }
        driver.start(on: nil, observer: self)
    }

    func receive(atMost limit: Int, _ completion: @escaping @Sendable (HTTPArrival) -> Void) {
        receive(minimumIncompleteLength: 1, maximumLength: limit) { content, context, isComplete, error in
            completion(HTTPArrival(content: content, isEnd: isComplete && context?.isFinal ?? true, error: error))
        }
    }

    func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void) {
        send(content: content, completion: .contentProcessed(completion))
    }

    func close(isInterrupted: Bool) {
        if isInterrupted { forceCancel() } else { cancel() }
    }
}
