package import Causeway
internal import CausewaySystem
package import Foundation

/// The source of an input stream whose bytes arrive by calls, for example from a channel of a larger protocol.
///
/// The stream holds the feed, so a feed that refers to its source causes no cycle.
package final class StreamFeed: StreamLink {
    private struct Account: Sendable {
        /// Number of bytes that were put into the pipe.
        var put = 0
        /// Number of bytes that were reported as read.
        var reported = 0
    }

    private let pipe: BytePipe
    private let account = LockedValue(Account())
    private let onRead: @Sendable (Int) -> Void
    private let onClose: @Sendable () -> Void

    /// - Parameters:
    ///   - capacity: Maximum number of unread bytes.
    ///   - onRead: Called with the number of bytes that the program has read.
    ///   - onClose: Called when the program closes or releases the stream before its end.
    package init(
        capacity: Int, onRead: @escaping @Sendable (Int) -> Void, onClose: @escaping @Sendable () -> Void
    ) {
        pipe = BytePipe(capacity: capacity)
        (self.onRead, self.onClose) = (onRead, onClose)
        pipe.observe { [weak self] in self?.reportRead() }
    }

    /// Makes the stream. Call it once.
    package func makeStream() -> InputStream { PipedInputStream(StreamCore(.input, pipe, self)) }

    /// Adds bytes. Returns whether there was room for all; `false` also if the stream is closed.
    package func put(_ data: Data) -> Bool {
        let count = data.withUnsafeBytes { pipe.write($0) }
        account.withLock { $0.put += count }
        // The pipe reported the change before the bytes were counted.
        reportRead()
        return count == data.count
    }

    /// Ends the stream after the bytes that were added.
    package func finish() { pipe.finish() }

    /// Ends the stream with an error after the bytes that were added.
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
        let isOver = pipe.hasFinished || pipe.failure != nil
        pipe.abandon()
        if !isOver { onClose() }
    }

    func whenEnded(_ body: @escaping @Sendable () -> Void) { body() }
    func property(_ key: Stream.PropertyKey) -> AnyObject? { nil }
    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool { false }
}
