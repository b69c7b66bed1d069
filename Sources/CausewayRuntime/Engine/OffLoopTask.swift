package import CausewayTypes
package import FoundationEssentials

/// A task that waits for content on a thread other than the loop's, and the content with which it is resumed.
package struct OffLoopTask: Sendable {
    private let continuation: TaskContinuation
    private let piece: StreamPiece

    package init(_ continuation: TaskContinuation, _ piece: StreamPiece) {
        self.continuation = continuation
        self.piece = piece
    }

    package func resume() { continuation.resume(returning: .success(piece)) }
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
