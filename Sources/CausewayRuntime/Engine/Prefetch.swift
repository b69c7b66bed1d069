internal import CausewaySystem

/// Prefetches the memory that the loop uses next, while the previous handler or job is in a system call.
///
/// The state for many connections does not fit into the processor's cache. With a thousand busy connections, each
/// message would wait for memory about forty times. A prefetch costs one instruction per 64 bytes and has no other
/// effect, so prefetching too many bytes is harmless.
enum Prefetch {
    /// How much memory in bytes the loop usually accesses for one message. The first number is for the event's handler.
    /// The second number is for a task and its first function frames.
    private static let (handlerByteCount, taskByteCount) = (384, 1536)

    static func fetch(_ handler: some ReadinessHandler) {
        System.fetch(Unmanaged.passUnretained(handler).toOpaque(), byteCount: handlerByteCount)
    }

    /// Prefetches the memory of the task to which a job belongs. A job is a single pointer. The pointer of a task's job
    /// refers to the task.
    static func fetch(_ job: UnownedJob) {
        let address = withUnsafeBytes(of: job) { word in word.load(as: UnsafeRawPointer.self) }
        System.fetch(address, byteCount: taskByteCount)
    }
}
