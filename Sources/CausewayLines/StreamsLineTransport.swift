public import Causeway
internal import CausewayStreams
internal import CausewaySystem
public import Foundation

/// Lines over a pair of Foundation streams. Stream events report when the next read or write is possible.
public final class StreamsLineTransport: LineTransport, StreamDelegate {
    /// The peer name passed to the initializer.
    public let peer: String
    private let input: Unchecked<InputStream>
    private let output: Unchecked<OutputStream>
    private let inputSignal = StreamSignal()
    private let outputSignal = StreamSignal()
    private let decoder = LockedValue(LineDecoder())
    private let unsent = LockedValue(LineOutput())
    private static let chunk = 16_384

    /// Creates a transport over an unopened stream pair from `CausewayStreams`. Other streams do not deliver their events on a queue.
    ///
    /// - Parameters:
    ///   - streams: The pair, which the transport opens and closes.
    ///   - peer: The value of ``LineTransport/peer``.
    public init(_ streams: (input: InputStream, output: OutputStream), peer: String) {
        (input, output) = (Unchecked(streams.input), Unchecked(streams.output))
        self.peer = peer
    }

    /// Creates a transport to a stream endpoint.
    public convenience init(to endpoint: NWEndpoint, using parameters: NWParameters = .tcp) {
        self.init(Stream.streams(to: endpoint, using: parameters), peer: endpoint.peerText)
    }

    /// Creates a transport over a connection that is not started yet, such as one from a listener.
    public convenience init(over connection: NWConnection) {
        self.init(Stream.streams(over: connection), peer: connection.endpoint.peerText)
    }

    /// Opens both streams and waits until the output stream is open.
    ///
    /// - Throws: The stream's error.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)` and closes the transport.
    public func open() async throws {
        let queue = DispatchQueue(label: "causeway.lines.streams", target: .global())
        for stream in [input.value, output.value] as [Stream] {
            stream.delegate = self
            stream.schedule(on: queue)
            stream.open()
        }
        do {
            while output.value.streamStatus == .opening { try await outputSignal.wait() }
        } catch {
            close()
            throw error
        }
        guard output.value.streamStatus == .open else {
            throw error(of: output.value)
        }
    }

    /// Receives the events of both streams. Called by the streams on the transport's queue.
    public func stream(_ stream: Stream, handle event: Stream.Event) {
        (stream === input.value ? inputSignal : outputSignal).tell()
    }

    /// Sends a line.
    ///
    /// - Throws: The stream's error; ``LineProblem/tooLong`` for a line that is too long, which is not sent.
    ///
    /// Cancellation: see ``LineTransport``.
    public func send(_ line: Data) async throws {
        guard line.count <= LineFormat.limit else { throw LineProblem.tooLong }
        unsent.withLock { $0.append(line + LineFormat.end) }
        try await flush()
    }

    /// Writes all bytes that wait in ``unsent``.
    private func flush() async throws {
        do {
            while true {
                let rest = unsent.withLock { $0.rest }
                guard !rest.isEmpty else { return }
                let count = try await write(rest)
                unsent.withLock { $0.sent(count) }
            }
        } catch {
            unsent.withLock { $0.cancel() }
            throw error
        }
    }

    /// Waits until the stream takes at least one byte. Returns the number of bytes that it has taken.
    private func write(_ content: Data) async throws -> Int {
        while !output.value.hasSpaceAvailable {
            guard output.value.streamStatus == .open else { throw error(of: output.value) }
            try await outputSignal.wait()
        }
        let count = content.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: UInt8.self) { line in
                line.baseAddress.map { output.value.write($0, maxLength: line.count) } ?? 0
            }
        }
        guard count > 0 else { throw error(of: output.value) }
        return count
    }

    /// Closes the output stream and waits until all lines have been sent.
    ///
    /// Cancellation: see ``LineTransport``. If the rest of an earlier line still waits, the stream stays open, and the
    /// call can be repeated. Otherwise the stream is closed nevertheless when its lines have been sent.
    public func sendEnd() async throws {
        try await flush()
        let ended = StreamSignal()
        output.value.close(whenSent: { ended.tell() })
        try await ended.wait()
    }

    /// Receives the next line without its line end; `nil` after the peer has ended its sending direction.
    ///
    /// - Throws: ``LineProblem`` after the valid lines; the stream's error.
    ///
    /// Cancellation: see ``LineTransport``.
    public func next() async throws -> Data? {
        try checkTaskCancellation()
        while true {
            if let line = try decoder.withLock({ decoder throws(LineProblem) in try decoder.next() }) { return line }
            if input.value.hasBytesAvailable {
                let chunk = read()
                decoder.withLock { $0.append(chunk) }
                continue
            }
            switch input.value.streamStatus {
            case .atEnd:
                try decoder.withLock { decoder throws(LineProblem) in try decoder.finish() }
                return nil
            case .error, .closed: throw error(of: input.value)
            case .notOpen, .opening, .open, .reading, .writing: try await inputSignal.wait()
            }
        }
    }

    private func read() -> Data {
        var block = [UInt8](repeating: 0, count: Self.chunk)
        let count = input.value.read(&block, maxLength: block.count)
        return Data(block.prefix(max(0, count)))
    }

    /// Closes both streams, which ends the waiting calls.
    public func close() {
        input.value.close()
        output.value.close()
        inputSignal.tell()
        outputSignal.tell()
    }

    private func error(of stream: Stream) -> any Error {
        guard let error = stream.streamError as NSError? else { return NWError.posix(.ECANCELED) }
        return error.userInfo[NSUnderlyingErrorKey] as? NWError ?? error
    }
}

/// Suspends one task until ``tell()`` reports that a stream has changed. If no task waits, the next ``wait()`` returns
/// at once. The task then looks at the stream, because ``wait()`` can also return without a change.
private final class StreamSignal: Sendable {
    private struct State: Sendable {
        var isThere = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = LockedValue(State())

    func tell() {
        let waiter = state.withLock { state in
            state.isThere = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Cancellation: throws `.posix(.ECANCELED)`.
    func wait() async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    defer { state.isThere = false }
                    if !state.isThere { state.waiter = continuation }
                    return state.isThere
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            tell()
        }
        try checkTaskCancellation()
    }
}
