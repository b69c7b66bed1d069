package import CausewayTypes
package import FoundationEssentials

/// A task that waits for a result and does not run on the loop's thread. The value contains the result with which to
/// resume the task.
package enum OffLoopTask: Sendable {
    /// A task that waits for content.
    case receive(TaskContinuation, StreamPiece)
    /// A task that waits for another result than content. The closure resumes this task.
    case other(@Sendable () -> Void)

    package func resume() {
        switch self {
        case .receive(let continuation, let piece): continuation.resume(returning: .success(piece))
        case .other(let resume): resume()
        }
    }

    /// Calls a closure that resumes a task. On a loop's thread, the loop may delay the call until its current batch of
    /// events ends, so that it resumes several tasks together. On other threads, the call is made at once. If the loop
    /// made each call at once, the resumed task's thread could preempt the loop each time.
    package static func resume(_ body: @escaping @Sendable () -> Void) {
        guard let loop = Engine.current else { return body() }
        loop.resumeAfterBatch(.other(body))
    }
}

/// The result when a task receives from a byte stream. After the end of the stream, receive calls fail with `ENODATA`.
package struct StreamPiece: Sendable {
    /// The content; `nil` if the stream ended and no content was left.
    package var data: Data?
    /// Whether the peer will send no more content.
    package var isFinal: Bool

    package init(data: Data?, isFinal: Bool) {
        self.data = data
        self.isFinal = isFinal
    }
}

/// The continuation of a task waiting for content. Its result omits details that a task does not need: they would
/// enlarge every idle task's stack frame.
package typealias TaskContinuation = UnsafeContinuation<Result<StreamPiece, Failure>, Never>
