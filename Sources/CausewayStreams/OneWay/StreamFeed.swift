internal import Causeway
internal import CausewaySystem
package import Foundation

/// The source for an input stream whose bytes come from calls to ``put(_:)``, for example from a channel in a
/// multiplexed protocol.
///
/// The stream retains the feed, and the feed's closures may retain the object that calls ``put(_:)``. To avoid a cycle,
/// that object should refer to the feed weakly.
package final class StreamFeed: StreamLink {
    private struct Account: Sendable {
        /// Number of bytes added to the pipe.
        var put = 0
        /// Of the bytes in `put`, the number that `onRead` has already reported.
        var reported = 0
    }

    private let pipe: BytePipe
    private let account = LockedValue(Account())
    private let onRead: @Sendable (Int) -> Void
    private let onClose: @Sendable () -> Void

    /// - Parameters:
    ///   - capacity: Maximum number of unread bytes.
    ///   - onRead: Called with the number of bytes that the program has read.
    ///   - onClose: Called once, when the program closes or releases the stream.
    package init(
        capacity: Int, onRead: @escaping @Sendable (Int) -> Void, onClose: @escaping @Sendable () -> Void
    ) {
        pipe = BytePipe(capacity: capacity)
        (self.onRead, self.onClose) = (onRead, onClose)
        pipe.observe { [weak self] in self?.reportRead() }
    }

    /// Creates the stream. Call this once.
    package func makeStream() -> InputStream { PipedInputStream(StreamCore(.input, pipe, self)) }

    /// Adds bytes. Returns whether all bytes were added: `false` if some did not fit, and also if the stream is closed.
    package func put(_ data: Data) -> Bool {
        let count = data.withUnsafeBytes { pipe.write($0) }
        account.withLock { $0.put += count }
        // Report again. The reader may have read these bytes before they were counted. The reader's call of
        // `reportRead` then ignored them.
        reportRead()
        return count == data.count
    }

    /// Ends the stream. The program can still read the bytes added before.
    package func finish() { pipe.finish() }

    /// Ends the stream with an error. The program can still read the bytes added before.
    package func fail(_ error: NWError) { pipe.fail(error) }

    private func reportRead() {
        let count = account.withLock { account in
            let unreported = account.put - pipe.count - account.reported
            guard unreported > 0 else { return 0 }
            account.reported += unreported
            return unreported
        }
        if count > 0 { onRead(count) }
    }

    func open(_ core: StreamCore) { core.opened() }

    func closed(_ direction: StreamCore.Direction) {
        pipe.abandon()
        onClose()
    }

    func whenEnded(_ body: @escaping @Sendable () -> Void) { body() }
    func property(_ key: Stream.PropertyKey) -> AnyObject? { nil }
    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool { false }
}
