import ArgumentParser
import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials

/// Runs `body`, and cancels its task on SIGINT, SIGTERM, or SIGHUP (not under `nohup`).
///
/// `body` must end soon after it is cancelled. A second signal ends the process immediately.
///
/// - Throws: The error from `body`; `ExitCode` 128 + the signal number after a signal, as in shells.
func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try checkRoomForSource()
    let (signals, feed) = AsyncStream<Int32>.makeStream()
    let sources = System.endingSignals.map { number in
        _ = signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            _ = signal(number, SIG_DFL)
            feed.yield(number)
        }
        source.resume()
        return source
    }
    defer { for source in sources { source.cancel() } }
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask {
            for await number in signals { throw ExitCode(128 + number) }
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}

/// Checks that Dispatch can open the descriptors for one more source or timer. If Dispatch cannot open them, it ends the process.
///
/// - Throws: ``NWError`` with `EMFILE` or `ENFILE`.
func checkRoomForSource() throws {
    do { try System.checkRoomForSource() } catch {
        throw NWError.posix(POSIXErrorCode(rawValue: error.errno) ?? .EMFILE)
    }
}

/// Runs `body` like ``untilInterrupted(_:)``, and withdraws services if `body` throws.
///
/// If `body` throws, for example after a signal, `goodbye` runs first. Then the error is thrown.
///
/// - Parameter goodbye: Starts to withdraw services. It receives a closure, and must call this closure when the
///   services are withdrawn.
func untilInterrupted(
    _ body: @escaping @Sendable () async throws -> Void, goodbye: (@escaping @Sendable () -> Void) -> Void
) async throws {
    do {
        try await untilInterrupted(body)
    } catch {
        await withCheckedContinuation { gone in goodbye { gone.resume() } }
        throw error
    }
}
