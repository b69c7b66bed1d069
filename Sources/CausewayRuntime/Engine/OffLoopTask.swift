package import CausewayTypes
package import FoundationEssentials

/// A task that waits on a thread other than the loop's, with the result that resumes it.
package enum OffLoopTask: Sendable {
    /// A task that waits for content.
    case receive(TaskContinuation, StreamPiece)
    /// Another task, resumed by the closure.
    case other(@Sendable () -> Void)

    package func resume() {
        switch self {
        case .receive(let continuation, let piece): continuation.resume(returning: .success(piece))
        case .other(let resume): resume()
        }
    }

    /// Calls a closure that resumes a task. On a loop's thread, calls it when the event batch ends, together with other
    /// tasks, because a loop that resumes tasks one by one is preempted by each of them. On other threads, calls it at
    /// once.
    package static func resume(_ body: @escaping @Sendable () -> Void) {
        guard let loop = Engine.current else { return body() }
        loop.resumeAfterBatch(.other(body))
    }
}

/// The result when a task receives from a byte stream. After the end, receives fail with `ENODATA`.
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

/// The continuation of a task waiting for content. It omits details that a task does not need, because they would
/// enlarge every idle task's stack frame.
package typealias TaskContinuation = UnsafeContinuation<Result<StreamPiece, Failure>, Never>
