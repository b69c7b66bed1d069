internal import CausewaySystem

/// What a loop will touch next, fetched while the kernel works for the one before.
///
/// The state of many connections does not fit into the processor's cache: of a thousand that are all busy, each would wait for memory
/// some forty times a message. A hint costs an instruction for each 64 bytes, and reads nothing; too many bytes do no harm.
enum Prefetch {
    /// Bytes. As much of a flow, and of a task with its first frames, as a message usually touches.
    private static let (handlerByteCount, taskByteCount) = (384, 1536)

    static func fetch(_ handler: some ReadinessHandler) {
        System.fetch(Unmanaged.passUnretained(handler).toOpaque(), byteCount: handlerByteCount)
    }

    /// A job is one word, and the job of a task is the task.
    static func fetch(_ job: UnownedJob) {
        let address = withUnsafeBytes(of: job) { word in word.load(as: UnsafeRawPointer.self) }
        System.fetch(address, byteCount: taskByteCount)
    }
}
