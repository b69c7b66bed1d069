import Causeway
import Dispatch
import Foundation
import Synchronization

/// Asynchronous methods for the tests. They use only the public interface of `NWConnection`.
extension NWConnection {
    /// Starts the connection, and suspends until it is ready.
    ///
    /// - Throws: The error of the state `waiting` or `failed`, or `ECANCELED`. The connection is then cancelled.
    func open() async throws(NWError) {
        let outcome: Result<Void, NWError> = await withCheckedContinuation { opened in
            let waiter = Mutex<CheckedContinuation<Result<Void, NWError>, Never>?>(opened)
            stateUpdateHandler = { state in
                let reached: Result<Void, NWError>
                switch state {
                case .setup, .preparing: return
                case .ready: reached = .success(())
                case .waiting(let error), .failed(let error): reached = .failure(error)
                case .cancelled: reached = .failure(.posix(.ECANCELED))
                }
                waiter.withLock { $0.take() }?.resume(returning: reached)
            }
            start(queue: DispatchQueue(label: "connection"))
        }
        if case .failure = outcome { cancel() }
        try outcome.get()
    }

    /// Sends the content. Returns when the transport has accepted it.
    func send(_ content: Data) async throws(NWError) {
        try await deliver(content, .defaultMessage)
    }

    /// Closes the sending direction after all earlier content has been sent. The receiving direction stays open.
    func sendEnd() async throws(NWError) {
        try await deliver(nil, .finalMessage)
    }

    private func deliver(_ content: Data?, _ context: ContentContext) async throws(NWError) {
        let failure: NWError? = await withCheckedContinuation { sent in
            send(
                content: content, contentContext: context,
                completion: .contentProcessed { error in sent.resume(returning: error) })
        }
        if let failure { throw failure }
    }

    /// Waits until bytes are available, then receives at most `maximumLength` bytes. Returns `nil` after the peer has
    /// closed its sending direction.
    func receive(atMost maximumLength: Int) async throws(NWError) -> Data? {
        let result: Result<Data?, NWError> = await withCheckedContinuation { received in
            receive(minimumIncompleteLength: 1, maximumLength: maximumLength) { content, context, _, error in
                if content == nil, let error, error != .posix(.ENODATA) {
                    return received.resume(returning: .failure(error))
                }
                // A message without content does not end the stream.
                let isEnd = error != nil || context?.isFinal == true
                received.resume(returning: .success(content ?? (isEnd ? nil : Data())))
            }
        }
        return try result.get()
    }
}
