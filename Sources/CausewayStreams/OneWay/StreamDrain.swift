internal import Causeway
internal import CausewaySystem
package import Foundation

/// Receives the bytes of an output stream. Passes them to a callback, which can, for example, write them to a channel
/// of a multiplexed protocol.
package final class StreamDrain: StreamLink {
    /// The receiver of the bytes.
    package struct Channel: Sendable {
        /// Writes bytes and returns the accepted count; `nil` if the channel failed. If the channel has not accepted
        /// all bytes, the code that supplied the channel must call ``StreamDrain/move()`` when the channel has space
        /// again.
        package var write: @Sendable (Data) -> Int?
        /// Called once, when the program has closed the stream and all bytes are written.
        package var end: @Sendable () -> Void

        package init(write: @escaping @Sendable (Data) -> Int?, end: @escaping @Sendable () -> Void) {
            (self.write, self.end) = (write, end)
        }
    }

    private struct State: Sendable {
        /// The channel; `nil` before ``start(_:)`` and after the stream has ended.
        var channel: Channel?
        /// Bytes read from the pipe but not yet accepted by the channel. Only the thread that runs ``move()`` changes
        /// this value.
        var piece = Data()
        var isMoving = false
        var mustRepeat = false
        var hasEnded = false
        var whenEnded: [@Sendable () -> Void] = []
    }

    /// Maximum number of bytes per channel write.
    private static let pieceSize = 32 << 10

    private let pipe: BytePipe
    private let state = LockedValue(State())

    /// - Parameter capacity: Maximum number of bytes that wait to be sent on the channel.
    package init(capacity: Int) {
        pipe = BytePipe(capacity: capacity)
        pipe.observe { [weak self] in self?.move() }
    }

    /// Creates the stream. Call this once.
    package func makeStream() -> OutputStream { PipedOutputStream(StreamCore(.output, pipe, self)) }

    /// Sets the channel and moves waiting bytes. The channel is released after the stream has ended.
    package func start(_ channel: Channel) {
        state.withLock { if !$0.hasEnded { $0.channel = channel } }
        move()
    }

    /// Ends the stream with an error.
    package func fail(_ error: NWError) {
        pipe.fail(error)
        finish()
    }

    /// Moves bytes from the pipe to the channel, as long as the channel accepts them.
    ///
    /// Call this again when the channel has space. It may be called from any thread; only one thread at a time moves
    /// bytes.
    package func move() {
        while let channel = begin() {
            moveBytes(into: channel)
            if state.withLock({ state in
                state.isMoving = false
                return !state.mustRepeat
            }) {
                return
            }
        }
    }

    private func begin() -> Channel? {
        state.withLock { state in
            guard !state.isMoving else {
                state.mustRepeat = true
                return nil
            }
            state.mustRepeat = false
            state.isMoving = state.channel != nil
            return state.channel
        }
    }

    private func moveBytes(into channel: Channel) {
        // Read this flag before the bytes. If it is set, the writer adds no more bytes. So if the pipe is empty after
        // the loop below, all bytes were moved.
        let hasFinished = pipe.hasFinished
        while pipe.failure == nil, let piece = nextPiece() {
            guard let count = channel.write(piece) else { return fail(.posix(.ECONNRESET)) }
            let rest = piece.dropFirst(count)
            state.withLock { $0.piece = Data(rest) }
            guard rest.isEmpty else { return }
        }
        guard hasFinished, pipe.count == 0, pipe.failure == nil else { return }
        channel.end()
        finish()
    }

    /// Returns the next bytes for the channel; `nil` if there are none. Bytes that the channel has not accepted come
    /// first, and then the next bytes from the pipe.
    private func nextPiece() -> Data? {
        let piece = state.withLock { $0.piece }
        guard piece.isEmpty else { return piece }
        var next = Data(count: min(pipe.count, Self.pieceSize))
        let count = next.withUnsafeMutableBytes { pipe.read(into: $0) }
        return count > 0 ? next.prefix(count) : nil
    }

    private func finish() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            state.channel = nil
            defer { state.whenEnded = [] }
            return state.whenEnded
        }
        for body in waiting { body() }
    }

    // MARK: Link

    func open(_ core: StreamCore) { core.opened() }
    func closed(_ direction: StreamCore.Direction) { pipe.finish() }

    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.whenEnded.append(body) }
            return state.hasEnded
        }
        if hasEnded { body() }
    }

    func property(_ key: Stream.PropertyKey) -> AnyObject? { nil }
    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool { false }
}
