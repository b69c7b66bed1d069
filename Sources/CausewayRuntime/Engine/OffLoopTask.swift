package import CausewayTypes
package import FoundationEssentials

/// A task that waits for a result and does not run on the loop's thread. The value contains the result with which to
/// resume the task.
package enum OffLoopTask: Sendable {
    /// A task that waits for content.
    case receive(TaskContinuation, StreamPiece)
    /// A task that waits for a result other than content. The closure resumes this task.
    case other(@Sendable () -> Void)

    package func resume() {
        switch self {
        case .receive(let continuation, let piece): continuation.resume(returning: .success(piece))
        case .other(let resume): resume()
        }
    }

    /// Calls a closure that resumes a task.
    ///
    /// On a loop's thread, the loop may delay the call until its current batch of events ends. It can then resume
    /// several tasks together. With immediate calls, the thread of each resumed task could preempt the loop. On other
    /// threads, the call is made at once.
    package static func resume(_ body: @escaping @Sendable () -> Void) {
        guard let loop = Engine.current else { return body() }
        loop.resumeAfterBatch(.other(body))
    }
}

/// What a task receives from a byte stream. After the end of the stream, further receive calls fail with `ENODATA`.
package struct StreamPiece: Sendable {
    /// The content; `nil` if the stream ended without further content.
    package var data: Data?
    /// Whether the peer will send no more content.
    package var isFinal: Bool

    package init(data: Data?, isFinal: Bool) {
        self.data = data
        self.isFinal = isFinal
    }
}

/// The continuation of a task that waits for content. Its result leaves out details that a task does not need. They
/// would enlarge every idle task's stack frame.
package typealias TaskContinuation = UnsafeContinuation<Result<StreamPiece, Failure>, Never>
