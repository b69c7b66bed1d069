internal import Causeway
internal import CausewayHTTP
internal import CausewaySystem
internal import CausewayWire
internal import Dispatch
internal import Foundation

/// Reads request content. One thread at a time uses a reader.
protocol BodyReader: Sendable {
    func read() -> HTTPBodyPiece
    func close()
}

/// A source of request content that pauses while the task is suspended.
///
/// The source reads on a private queue, because a read can block. For example, a program may write slowly to a bound
/// pair of streams.
final class PausableSource: HTTPBodySource {
    private struct State {
        /// The load attempt; `nil` after the end. The source must not hold the last reference to a task. A connection
        /// can release the source while it holds its own lock, and a task must not be released under that lock.
        var attempt: LoadAttempt?
        var isStopped = false
        /// The completion that waits for the next chunk of the request body. It waits while the task is suspended.
        var wanted: (@Sendable (HTTPBodyPiece) -> Void)?
    }

    /// The chunk size in bytes.
    static let pieceSize = 64 << 10

    private let reader: any BodyReader
    private let queue = DispatchQueue(label: "causeway.request-body")
    private let state: LockedValue<State>

    init(_ reader: any BodyReader, for attempt: LoadAttempt) {
        self.reader = reader
        state = LockedValue(State(attempt: attempt))
    }

    func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void) {
        let isStopped = state.withLock { state in
            state.wanted = state.isStopped ? nil : completion
            return state.isStopped
        }
        if !isStopped { demandChanged() }
    }

    /// Reads the next chunk if one is requested and the task is running.
    func demandChanged() {
        guard let attempt = state.withLock({ state in state.attempt }), attempt.isRunning,
            let wanted = state.withLock({ state in state.wanted.take() })
        else { return }
        queue.async { [self] in
            if !state.withLock({ state in state.isStopped }) { deliver(reader.read(), to: wanted) }
        }
    }

    private func deliver(_ piece: HTTPBodyPiece, to wanted: @Sendable (HTTPBodyPiece) -> Void) {
        if case .content = piece { return wanted(piece) }
        let attempt = state.withLock { state in state.attempt.take() }
        wanted(piece)
        withExtendedLifetime(attempt) {}
    }

    func stop() {
        let (wasStopped, rest) = state.withLock { state in
            defer { state.isStopped = true }
            return (state.isStopped, (state.wanted.take(), state.attempt.take()))
        }
        withExtendedLifetime(rest) {}
        if !wasStopped { queue.async { [self] in reader.close() } }
    }
}

/// Reads a stream.
struct StreamBodyReader: BodyReader {
    let stream: Unchecked<InputStream>

    func read() -> HTTPBodyPiece {
        let stream = stream.value
        if stream.streamStatus == .notOpen { stream.open() }
        var buffer = [UInt8](repeating: 0, count: PausableSource.pieceSize)
        let count = stream.read(&buffer, maxLength: buffer.count)
        switch count {
        case 0:
            stream.close()
            return .end(FieldSection())
        case 1...: return .content(Data(buffer[..<count]))
        // Do not read `streamError` here. If the stream has no error object, this would crash the process.
        default: return .failure(LoadFailure(.bodyStreamExhausted))
        }
    }

    func close() { stream.value.close() }
}

/// Reads a file.
final class FileBodyReader: BodyReader {
    private let handle: FileHandle
    private let rest: LockedValue<Int64>

    /// Opens a file as request content.
    ///
    /// - Parameters:
    ///   - offset: The offset of the first byte to send.
    ///   - count: The number of bytes to send. If the file ends earlier, reading fails.
    init(_ url: URL, from offset: Int64 = 0, count: Int64) throws(LoadFailure) {
        do {
            handle = try FileHandle(forReadingFrom: url)
            if offset > 0 { try handle.seek(toOffset: UInt64(offset)) }
        } catch {
            throw LoadFailure(.fileUnreadable, underlying: error)
        }
        rest = LockedValue(count)
    }

    func read() -> HTTPBodyPiece {
        let wanted = rest.withLock { rest in min(rest, Int64(PausableSource.pieceSize)) }
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

    func close() { try? handle.close() }
}
