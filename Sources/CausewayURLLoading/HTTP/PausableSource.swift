internal import Causeway
internal import CausewayHTTP
internal import CausewaySystem
internal import CausewayWire
internal import Dispatch
internal import Foundation

/// A source of request content that pauses while the task is suspended.
///
/// It reads on a queue of its own, because a read can block: a program may fill a bound pair of streams slowly.
class PausableSource: HTTPBodySource, @unchecked Sendable {
    // SAFETY: the state is guarded by a lock, and subclasses use their streams and files only on the queue.
    private struct State {
        var isStopped = false
        /// The completion for the next piece, while the task is suspended.
        var wanted: (@Sendable (HTTPBodyPiece) -> Void)?
    }

    /// The size of one piece in bytes.
    static let pieceSize = 64 << 10

    private let attempt: LoadAttempt
    private let queue = DispatchQueue(label: "causeway.request-body")
    private let state = LockedValue(State())

    init(for attempt: LoadAttempt) { self.attempt = attempt }

    /// Reads the next piece. Called on the queue.
    func read() -> HTTPBodyPiece { .end(FieldSection()) }

    /// Closes the stream or the file. Called on the queue.
    func close() {}

    final func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void) {
        let isStopped = state.withLock { state in
            state.wanted = state.isStopped ? nil : completion
            return state.isStopped
        }
        if !isStopped { demandChanged() }
    }

    /// Reads the next piece if one is wanted and the task is running.
    final func demandChanged() {
        guard attempt.isRunning else { return }
        guard let wanted = state.withLock({ state in state.wanted.take() }) else { return }
        queue.async { [self] in
            guard !state.withLock({ state in state.isStopped }) else { return }
            wanted(read())
        }
    }

    final func stop() {
        let wasStopped = state.withLock { state in
            state.wanted = nil
            defer { state.isStopped = true }
            return state.isStopped
        }
        if !wasStopped { queue.async { [self] in close() } }
    }
}

/// Sends the content of a stream.
final class StreamBodySource: PausableSource, @unchecked Sendable {
    // SAFETY: the stream is used only on the queue of the source.
    private let stream: Unchecked<InputStream>

    init(_ stream: Unchecked<InputStream>, for attempt: LoadAttempt) {
        self.stream = stream
        super.init(for: attempt)
    }

    override func read() -> HTTPBodyPiece {
        let stream = stream.value
        if stream.streamStatus == .notOpen { stream.open() }
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        let count = stream.read(&buffer, maxLength: buffer.count)
        switch count {
        case 0:
            stream.close()
            return .end(FieldSection())
        case 1...: return .content(Data(buffer[..<count]))
        // The property `streamError` ends the process if the stream has no error object.
        default: return .failure(LoadFailure(.bodyStreamExhausted))
        }
    }

    override func close() { stream.value.close() }
}

/// Sends the content of a file.
final class FileBodySource: PausableSource, @unchecked Sendable {
    // SAFETY: the file is used only on the queue of the source, and the count is behind a lock.
    private let handle: FileHandle
    private let rest: LockedValue<Int64>

    /// - Parameter count: The number of bytes to send. A file that has become shorter is a failure.
    init(_ url: URL, count: Int64, for attempt: LoadAttempt) throws(LoadFailure) {
        do {
            handle = try FileHandle(forReadingFrom: url)
        } catch {
            throw LoadFailure(.fileUnreadable, underlying: error)
        }
        rest = LockedValue(count)
        super.init(for: attempt)
    }

    override func read() -> HTTPBodyPiece {
        let wanted = rest.withLock { rest in min(rest, Int64(Self.pieceSize)) }
        guard wanted > 0 else { return .end(FieldSection()) }
        do {
            guard let piece = try handle.read(upToCount: Int(wanted)), !piece.isEmpty else {
                return .failure(LoadFailure(.connectionLost))
            }
            rest.withLock { rest in rest -= Int64(piece.count) }
            return .content(piece)
        } catch {
            return .failure(LoadFailure(.fileUnreadable, underlying: error))
        }
    }

    override func close() { try? handle.close() }
}
