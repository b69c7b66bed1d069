import Causeway
import Synchronization

/// Thrown when time ran out before the work was done.
struct TimedOut: Error {}

/// Runs `body`, calling `onExpiry` if it takes longer than `limit`; `onExpiry` must make `body` return or throw.
///
/// - Parameter limit: `nil` waits forever.
/// - Throws: ``TimedOut`` if `body` threw because time ran out, else what it threw.
func withDeadline<Value: Sendable>(
    _ limit: Duration?, onExpiry: @escaping @Sendable () -> Void,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let limit else { return try await body() }
    let expired = Expiry()
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            // Cancelled when the work is done first: then there is nothing to stop.
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

/// Whether time ran out: known before the work hears of it, because the work's error may arrive first.
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
    /// - Parameter giveUp: Called when time ran out; cancels the connection.
    /// - Throws: ``Failure`` with the text `connection to HOST:PORT failed: REASON`.
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
