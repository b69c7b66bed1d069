internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

extension ResolverEngine {
    /// Asks one question of DNS, or the cache.
    ///
    /// - Parameter servers: The servers to ask instead of the host's own; such answers are not remembered.
    /// - Returns: `nil` if the task was cancelled before the answer came. The question is given up then.
    func answer(
        _ name: DNSName, _ type: DNSRecordType, servers: [DNSServer]?
    ) async -> (answer: DNSAnswer, origin: AddressOrigin)? {
        let waiting = WaitingQuestion()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard waiting.begin(continuation) else { return }
                loop.execute {
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

/// A question that a task waits for: it is answered, or given up, once.
private final class WaitingQuestion: Sendable {
    typealias Answer = (answer: DNSAnswer, origin: AddressOrigin)

    private struct State: Sendable {
        var continuation: CheckedContinuation<Answer?, Never>?
        var cancel: (@Sendable () -> Void)?
        var hasEnded = false
    }

    private let state = LockedValue(State())

    /// - Returns: Whether the question is to be asked. If the task was cancelled before, it has its answer.
    func begin(_ continuation: CheckedContinuation<Answer?, Never>) -> Bool {
        let mustAsk = state.withLock { state in
            if !state.hasEnded { state.continuation = continuation }
            return !state.hasEnded
        }
        if !mustAsk { continuation.resume(returning: nil) }
        return mustAsk
    }

    /// The question was asked, and perhaps answered at once.
    func asked(_ cancel: (@Sendable () -> Void)?) {
        let isUnwanted = state.withLock { state in
            if !state.hasEnded { state.cancel = cancel }
            return state.hasEnded
        }
        if isUnwanted { cancel?() }
    }

    /// - Parameter answer: `nil` if the task was cancelled.
    func end(_ answer: Answer?) {
        let (continuation, cancel) = state.withLock { state in
            state.hasEnded = true
            return (state.continuation.take(), state.cancel.take())
        }
        if answer == nil { cancel?() }
        continuation?.resume(returning: answer)
    }
}
