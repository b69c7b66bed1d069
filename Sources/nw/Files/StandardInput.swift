import CausewaySystem
import Dispatch
import FoundationEssentials
import Synchronization

/// The process's standard input. One chunk at a time is read, and only on request.
///
/// Only one task reads at a time. If a task is cancelled during a read, the next reader gets that read's data.
final class StandardInput: Sendable {
    static let shared = StandardInput()

    private struct State {
        var isReading = false
        var unclaimed: Result<Data?, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
    }

    private let state = Mutex(State())
    /// A serial queue without a target queue. Dispatch runs such a queue on its own thread. This is necessary because
    /// reading standard input may block for hours.
    private let queue = DispatchQueue(label: "nw.standard-input")
    let isTerminal = OpenFile.standardInput.kind == .terminal

    /// Waits for input. Returns `nil` at the end of input and at every later call.
    func next(atMost limit: Int) async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                claim(continuation, atMost: limit)
                if Task.isCancelled { abandon() }
            }
        } onCancel: {
            abandon()
        }
    }

    private func claim(_ continuation: CheckedContinuation<Data?, any Error>, atMost limit: Int) {
        let (result, starts): (Result<Data?, any Error>?, Bool) = state.withLock { state in
            if let result = state.unclaimed {
                state.unclaimed = nil
                return (result, false)
            }
            state.reader = continuation
            defer { state.isReading = true }
            return (nil, !state.isReading)
        }
        if let result { continuation.resume(with: result) }
        guard starts else { return }
        queue.async { [self] in
            let result = Result { try OpenFile.standardInput.readChunk(atMost: limit) }
            deliver(result)
        }
    }

    private func deliver(_ result: Result<Data?, any Error>) {
        state.withLock { state in
            state.isReading = false
            guard let reader = state.reader else {
                state.unclaimed = result
                return nil as CheckedContinuation<Data?, any Error>?
            }
            state.reader = nil
            return reader
        }?.resume(with: result)
    }

    private func abandon() {
        state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }?.resume(throwing: CancellationError())
    }
}
