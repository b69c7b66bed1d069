import Causeway
import Synchronization

/// Thrown when the time limit has passed before the work is done.
struct TimedOut: Error {}

/// Runs `body`, and calls `onExpiry` if it takes longer than `limit`. `onExpiry` must make `body` return or throw.
///
/// - Parameter limit: The time limit; `nil` for none.
/// - Throws: ``TimedOut`` if `body` throws after the limit has passed; otherwise the error of `body`.
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

/// Whether the time limit has passed. It is set before `onExpiry` runs, because the error of the work may arrive first.
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
    /// - Throws: ``CommandFailure`` with the text `connection to HOST:PORT failed: REASON`.
    func connect(
        within limit: Duration?, giveUp: @escaping @Sendable (NWConnection) -> Void = { $0.cancel() }
    ) async throws {
        do {
            try await withDeadline(limit, onExpiry: { giveUp(self) }) { try await self.open() }
        } catch is TimedOut {
            throw CommandFailure("connection to \(endpoint.label) failed: timed out")
        } catch {
            let reason = proxyFailureReason
            cancel()
            if let reason { throw CommandFailure("connection to \(endpoint.label) failed: \(reason)") }
            throw CommandFailure("connection to \(endpoint.label) failed", error)
        }
    }
}
