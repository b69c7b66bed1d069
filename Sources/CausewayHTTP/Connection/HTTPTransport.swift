internal import Causeway
internal import CausewayRuntime
internal import CausewayTypes
internal import FoundationEssentials

/// The byte stream below a connection. Callbacks may come on any thread, also before the call returns.
protocol HTTPTransport: Sendable {
    /// Starts, and reports that the stream is ready, or the reason why it is not. Later reports are about the same transport.
    func start(_ report: @escaping @Sendable (Result<PoolFacts, NWError>) -> Void)
    /// Receives at least one byte.
    func receive(atMost limit: Int, _ completion: @escaping @Sendable (HTTPArrival) -> Void)
    /// Sends bytes. The completion comes when the transport has taken them.
    func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void)
    /// Closes the stream. With a reset if it is interrupted.
    func close(isInterrupted: Bool)
}

/// The facts of an established transport.
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
