import CausewaySystem
import Dispatch
import FoundationEssentials
import Synchronization

/// A thread for blocking file operations, so that neither an event loop nor Swift's thread pool waits for a disk or terminal.
final class FileThread: Sendable {
    /// A serial queue without a target queue, for which Dispatch creates a separate thread. A shared thread would not
    /// do, because reading from a terminal may block for hours.
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs the work on the thread, after all work submitted earlier.
    ///
    /// Cancellation: this function returns immediately with `CancellationError`; the work still completes on the thread.
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

    /// Runs the work on the thread, and waits until it has ended even if the task is cancelled.
    func finishing<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// Runs the work on the thread, even if the task is cancelled.
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
    /// Reads once, at most `limit` bytes. Returns `nil` at the end of the file.
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
