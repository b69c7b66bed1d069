internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

extension ResolverEngine {
    /// Returns the answer to a question, from the cache or from a DNS query.
    ///
    /// - Parameter servers: The servers to query instead of the host's own servers. Their answers are not cached.
    /// - Returns: `nil` if the task was cancelled before the answer arrived.
    ///
    /// Cancellation: cancels the query.
    func answer(
        _ name: DNSName, _ type: DNSRecordType, servers: [DNSServer]?
    ) async -> (answer: DNSAnswer, origin: AddressOrigin)? {
        let waiting = WaitingQuestion()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard waiting.begin(continuation) else { return }
                withSettings { _ in
                    let cancel =
                        if let servers {
                            self.question(name, type, to: servers, .init()) { waiting.end(($0, $1)) }
                        } else {
                            self.question(name, type, .init(), 0) { waiting.end(($0, $1)) }
                        }
                    waiting.asked(cancel)
                }
            }
        } onCancel: {
            waiting.end(nil)
        }
    }
}

/// A DNS query that a task waits for. It ends exactly once: with an answer, or because the task is cancelled.
private final class WaitingQuestion: Sendable {
    typealias Answer = (answer: DNSAnswer, origin: AddressOrigin)

    private struct State: Sendable {
        var continuation: CheckedContinuation<Answer?, Never>?
        var cancel: (@Sendable () -> Void)?
        var hasEnded = false
    }

    private let state = LockedValue(State())

    /// - Returns: Whether to send the query. If the task was already cancelled, the result is `false`, and the
    ///   continuation has been resumed.
    func begin(_ continuation: CheckedContinuation<Answer?, Never>) -> Bool {
        let mustAsk = state.withLock { state in
            if !state.hasEnded { state.continuation = continuation }
            return !state.hasEnded
        }
        if !mustAsk { continuation.resume(returning: nil) }
        return mustAsk
    }

    /// Stores the closure that cancels the query. If the query has already ended, calls the closure at once.
    func asked(_ cancel: (@Sendable () -> Void)?) {
        let isUnwanted = state.withLock { state in
            if !state.hasEnded { state.cancel = cancel }
            return state.hasEnded
        }
        if isUnwanted { cancel?() }
    }

    /// - Parameter answer: The answer; `nil` if the task was cancelled.
    func end(_ answer: Answer?) {
        let (continuation, cancel) = state.withLock { state in
            state.hasEnded = true
            return (state.continuation.take(), state.cancel.take())
        }
        if answer == nil { cancel?() }
        continuation?.resume(returning: answer)
    }
}
