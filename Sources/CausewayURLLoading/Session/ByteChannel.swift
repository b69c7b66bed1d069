internal import CausewaySystem
internal import DequeModule
internal import Foundation

/// Passes a task's content to an asynchronous reader. If the reader stops reading, the loader pauses (back-pressure).
final class ByteChannel: Sendable {
    fileprivate enum Waiter {
        case response(CheckedContinuation<URLResponse, any Error>)
        case bytes(CheckedContinuation<Data?, any Error>)
    }

    fileprivate struct State {
        var response: URLResponse?
        var pieces = Deque<Data>()
        var end: Result<Void, any Error>?
        var waiter: Waiter?
    }

    private let progress = LockedValue(State())
    /// The task whose content this object reads.
    private let source = LockedValue<TaskCore?>(nil)

    /// Sets the task. Called once, before the task is resumed.
    func attach(_ core: TaskCore) { source.withLock { $0 = core } }

    // MARK: The task's side

    func respond(_ response: URLResponse) {
        let waiter = progress.withLock { progress -> Waiter? in
            guard progress.response == nil else { return nil }
            progress.response = response
            guard case .response = progress.waiter else { return nil }
            return progress.takeWaiter()
        }
        if case .response(let continuation) = waiter { continuation.resume(returning: response) }
    }

    func append(_ data: Data) {
        let waiter = progress.withLock { progress -> Waiter? in
            if case .bytes = progress.waiter { return progress.takeWaiter() }
            progress.pieces.append(data)
            return nil
        }
        guard case .bytes(let continuation) = waiter else { return }
        continuation.resume(returning: data)
        noteTaken(data.count)
    }

    func finish(_ error: (any Error)?) {
        let waiter = progress.withLock { progress -> Waiter? in
            progress.end = error.map { .failure($0) } ?? .success(())
            return progress.takeWaiter()
        }
        source.withLock { $0 = nil }
        switch waiter {
        case .response(let continuation):
            continuation.resume(throwing: error ?? LoadFailure(.protocolViolation).urlError(for: nil))
        case .bytes(let continuation):
            if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: nil) }
        case nil: break
        }
    }

    // MARK: The reader's side

    /// Waits for the response.
    func response() async throws -> URLResponse {
        try await withCheckedThrowingContinuation { continuation in
            let known = progress.withLock { progress -> Result<URLResponse, any Error>? in
                if let response = progress.response { return .success(response) }
                switch progress.end {
                case .failure(let error): return .failure(error)
                case .success: return .failure(LoadFailure(.protocolViolation).urlError(for: nil))
                case nil:
                    progress.waiter = .response(continuation)
                    return nil
                }
            }
            if let known { continuation.resume(with: known) }
        }
    }

    /// Returns the next bytes, or `nil` at the end.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    nonisolated(nonsending) func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in take(continuation) }
        } onCancel: {
            source.withLock { $0 }?.cancel()
        }
    }

    private func take(_ continuation: CheckedContinuation<Data?, any Error>) {
        let (known, earlier) = progress.withLock { progress -> (Result<Data?, any Error>?, Waiter?) in
            if let piece = progress.pieces.popFirst() { return (.success(piece), nil) }
            switch progress.end {
            case .failure(let error): return (.failure(error), nil)
            case .success: return (.success(nil), nil)
            case nil:
                // Only one reader can wait for bytes. If a second reader starts to wait, the first reader receives the
                // end of the sequence.
                let earlier = progress.takeWaiter()
                progress.waiter = .bytes(continuation)
                return (nil, earlier)
            }
        }
        if case .bytes(let continuation) = earlier { continuation.resume(returning: nil) }
        guard let known else { return }
        continuation.resume(with: known)
        if case .success(let data?) = known { noteTaken(data.count) }
    }

    private func noteTaken(_ count: Int) { source.withLock { $0 }?.took(count) }
}

extension ByteChannel.State {
    fileprivate mutating func takeWaiter() -> ByteChannel.Waiter? {
        defer { waiter = nil }
        return waiter
    }
}
