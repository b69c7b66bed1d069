import ArgumentParser
import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials

/// Runs `body`, and cancels its task when the user or the system asks the process to end (`SIGINT`, `SIGTERM`), or its terminal is
/// closed (`SIGHUP`; not under `nohup`).
///
/// `body` must end soon when it is cancelled. A second signal ends the process at once.
///
/// - Throws: what `body` throws; `ExitCode` 128 and the signal's number if a signal came, as shells count it.
func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    // A source takes descriptors, and Dispatch ends the process where there are none.
    do { try System.checkRoom(forFiles: 6) } catch {
        throw NWError.posix(POSIXErrorCode(rawValue: error.errno) ?? .EMFILE)
    }
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

/// The same for what has a goodbye to say at its end, however that comes: it must be out before the process is gone.
///
/// - Parameter goodbye: Says it, and calls what it is given when that is done.
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
