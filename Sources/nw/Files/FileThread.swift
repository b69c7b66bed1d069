import CausewaySystem
import Dispatch
import FoundationEssentials
import Synchronization

/// A thread's worth of blocking file work: neither an event loop nor the tasks' pool waits for a disk or terminal.
final class FileThread: Sendable {
    /// Without a target queue: it gets a thread of its own, where a read of a terminal may stay for hours.
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Does the work on the lane's thread, after what was given to it before.
    ///
    /// Cancelling the task abandons the work: this returns at once with `CancellationError`, though the thread goes on.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let outcome = OneShot<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                outcome.wait(continuation)
                if Task.isCancelled { outcome.resume(with: .failure(CancellationError())) }
                queue.async { outcome.resume(with: Result(catching: work)) }
            }
        } onCancel: {
            outcome.resume(with: .failure(CancellationError()))
        }
    }

    /// Does the work on the lane's thread, also in a cancelled task.
    func finish(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async {
                work()
                continuation.resume()
            }
        }
    }
}

/// Resumes one continuation with the first of several outcomes.
final class OneShot<Value: Sendable>: Sendable {
    private let waiter = Mutex<CheckedContinuation<Value, any Error>?>(nil)

    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        waiter.withLock { $0 = continuation }
    }

    func resume(with result: Result<Value, any Error>) {
        waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }?.resume(with: result)
    }
}

extension OpenFile {
    /// Reads once, at most `limit` bytes. `nil` at the end.
    func readChunk(atMost limit: Int) throws -> Data? {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 16)
        let count: Int
        do {
            count = try fill(block)
        } catch {
            block.deallocate()
            throw error
        }
        guard count > 0, let start = block.baseAddress else {
            block.deallocate()
            return nil
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .custom { start, _ in start.deallocate() })
    }

    func writeAll(_ data: Data) throws {
        try data.withUnsafeBytes { try writeAll($0) }
    }
}
