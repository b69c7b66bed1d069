package import CausewayTypes
package import FoundationEssentials

/// A task that waits on a thread other than the loop's, and the result with which it is resumed.
package enum OffLoopTask: Sendable {
    /// A task that waits for content.
    case receive(TaskContinuation, StreamPiece)
    /// Another task. The closure resumes it.
    case other(@Sendable () -> Void)

    package func resume() {
        switch self {
        case .receive(let continuation, let piece): continuation.resume(returning: .success(piece))
        case .other(let resume): resume()
        }
    }

    /// Calls a closure that resumes a task: at the end of the event batch together with other tasks if the current thread is a loop's,
    /// otherwise at once. A loop that resumes tasks one by one is preempted by each of them.
    package static func resume(_ body: @escaping @Sendable () -> Void) {
        guard let loop = Engine.current else { return body() }
        loop.resumeAfterBatch(.other(body))
    }
}

/// The result of a task's receive on a byte stream. After the end, receives fail with `ENODATA`.
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

/// The continuation of a task that waits for content. It omits the details that a task does not need, because they would enlarge the stack
/// frame of every idle task.
package typealias TaskContinuation = UnsafeContinuation<Result<StreamPiece, Failure>, Never>
