internal import CausewayHTTP
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Reads a form's content for an upload.
struct FormBodyReader: BodyReader {
    private let reader: MultipartReader

    /// - Parameters:
    ///   - content: The form.
    ///   - offset: The offset of the first byte to send.
    init(_ content: MultipartContent, from offset: Int64) { reader = MultipartReader(content, from: offset) }

    func read() -> HTTPBodyPiece {
        do throws(MultipartFailure) {
            return try reader.read(atMost: PausableSource.pieceSize).map { .content($0) } ?? .end(FieldSection())
        } catch {
            return .failure(LoadFailure(error))
        }
    }

    func close() { reader.close() }
}

/// A stream of a form's content, for `URLProtocol` classes and delegates.
final class FormInputStream: InputStream {
    private struct State {
        var status = Stream.Status.notOpen
        var error: URLError?
    }

    private let reader: MultipartReader
    private let state = LockedValue(State())

    init(_ content: MultipartContent) {
        reader = MultipartReader(content)
        super.init(data: Data())
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard maxLength > 0, streamStatus == .open else { return streamStatus == .error ? -1 : 0 }
        do throws(MultipartFailure) {
            guard let piece = try reader.read(atMost: min(maxLength, 1 << 20)) else {
                state.withLock { $0.status = .atEnd }
                return 0
            }
            piece.copyBytes(to: buffer, count: piece.count)
            return piece.count
        } catch {
            let failure = LoadFailure(error).urlError(for: nil)
            state.withLock { state in (state.status, state.error) = (.error, failure) }
            return -1
        }
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { streamStatus == .open }

    override func open() { state.withLock { state in if state.status == .notOpen { state.status = .open } } }

    override func close() {
        state.withLock { $0.status = .closed }
        reader.close()
    }

    override var streamStatus: Stream.Status { state.withLock { $0.status } }
    override var streamError: (any Error)? { state.withLock { $0.error } }
    // Reading from this stream never waits for a peer. The stream therefore sends no events to a delegate or a run
    // loop.
    override var delegate: (any StreamDelegate)? {
        get { nil }
        set {}
    }
    override func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
