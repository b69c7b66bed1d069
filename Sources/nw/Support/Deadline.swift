import Causeway
import Synchronization

/// Thrown when the time limit has passed before the work is done.
struct TimedOut: Error {}

/// Runs `body`, and calls `onExpiry` if it takes longer than `limit`. `onExpiry` must make `body` return or throw.
///
/// - Parameter limit: The time limit; `nil` for none.
/// - Throws: ``TimedOut`` if `body` throws after the limit has passed; otherwise the error from `body`.
func withDeadline<Value: Sendable>(
    _ limit: Duration?, onExpiry: @escaping @Sendable () -> Void,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let limit else { return try await body() }
    let expired = Expiry()
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            // The sleep is cancelled if the work is done first.
            guard (try? await Task.sleep(for: limit)) != nil else { return nil }
            expired.note()
            onExpiry()
            return nil
        }
        defer { group.cancelAll() }
        do {
            while let result = try await group.next() {
                if let result { return result }
            }
            throw TimedOut()
        } catch {
            throw expired.isNoted ? TimedOut() : error
        }
    }
}

/// Runs `body`, and cancels it after `limit`. `body` must end soon after its cancellation.
///
/// - Parameter limit: The time limit; `nil` for none.
/// - Throws: ``TimedOut`` after the limit; otherwise the error from `body`.
func withCancellingDeadline<Value: Sendable>(
    _ limit: Duration?, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let limit else { return try await body() }
    return try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw TimedOut()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw TimedOut() }
        return value
    }
}

/// Measures how long some work has made no progress.
final class IdleTime: Sendable {
    private let last = Mutex(ContinuousClock.now)

    /// Restarts the idle time, because the work has made progress.
    func end() { last.withLock { $0 = .now } }

    var duration: Duration { last.withLock { ContinuousClock.now - $0 } }
}

/// Runs `body`, and calls `onExpiry` if `body` reports no progress for longer than `limit`. `onExpiry` must make `body`
/// return or throw.
///
/// - Throws: ``TimedOut`` if `body` throws after `onExpiry` was called; otherwise the error from `body`.
func withIdleLimit<Value: Sendable>(
    _ limit: Duration, onExpiry: @escaping @Sendable () -> Void,
    _ body: @escaping @Sendable (IdleTime) async throws -> Value
) async throws -> Value {
    let (idle, expired) = (IdleTime(), Expiry())
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body(idle) }
        group.addTask {
            while case let rest = limit - idle.duration, rest > .zero {
                // If the work completes first, the task group cancels this sleep.
                guard (try? await Task.sleep(for: rest)) != nil else { return nil }
            }
            expired.note()
            onExpiry()
            return nil
        }
        defer { group.cancelAll() }
        do {
            while let result = try await group.next() {
                if let result { return result }
            }
            throw TimedOut()
        } catch {
            throw expired.isNoted ? TimedOut() : error
        }
    }
}

/// Whether the time limit has passed.
///
/// The flag is set before `onExpiry` runs. This closure causes an error in `body`. Because of the flag, that error can
/// be reported as ``TimedOut``.
private final class Expiry: Sendable {
    private let flag = Atomic(false)

    var isNoted: Bool { flag.load(ordering: .acquiring) }

    func note() {
        flag.store(true, ordering: .releasing)
    }
}

extension NWConnection {
    /// Starts the connection and waits until it is ready.
    ///
    /// - Parameter giveUp: Called after the time limit; cancels the connection.
    /// - Throws: ``CommandFailure`` with the text `connection to HOST:PORT failed: REASON`, which also names a proxy.
    func connect(
        within limit: Duration?, giveUp: @escaping @Sendable (NWConnection) -> Void = { $0.cancel() }
    ) async throws {
        do {
            try await withDeadline(limit, onExpiry: { giveUp(self) }) { try await self.open() }
        } catch is TimedOut {
            throw CommandFailure("connection to \(endpoint.label) failed: timed out")
        } catch {
            let text = failureText(error)
            cancel()
            throw CommandFailure(text)
        }
    }
}
