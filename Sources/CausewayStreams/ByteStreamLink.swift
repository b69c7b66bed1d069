package import Causeway
internal import CausewaySystem
package import Foundation

/// Connects a stream pair to an open ``ByteStream``: receives content while the inbound pipe has space for it, and
/// sends the outbound pipe's content.
final class ByteStreamLink: StreamLink {
    private struct State: Sendable {
        var isOpen = false
        var isReading = false
        var output = Output.idle
        var whenEnded: [@Sendable () -> Void] = []
        var openCount = 2
        var isClosed = false
    }

    /// The sending side of the byte stream.
    private enum Output {
        case idle
        case writing
        case writingEnd
        /// The end of the stream was sent.
        case ended
    }

    /// Capacity of each pipe in bytes. Bytes that are being received or sent at the moment do not count.
    static let bufferSize = 64 << 10
    /// Maximum time in seconds to send written content after both streams are closed.
    private static let patience = 30

    let inbound = BytePipe(capacity: bufferSize)
    let outbound = BytePipe(capacity: bufferSize)
    private let stream: any ByteStream
    private let state = LockedValue(State())

    init(_ stream: any ByteStream) {
        self.stream = stream
        inbound.observe { [weak self] in self?.pumpIn() }
        outbound.observe { [weak self] in self?.pumpOut() }
    }

    /// Closes the byte stream if it is still open, for example because the program has released the stream pair without
    /// opening it.
    deinit { close(isInterrupted: true) }

    func open(_ core: StreamCore) {
        state.withLock { $0.isOpen = true }
        core.opened()
        pumpIn()
        pumpOut()
    }

    func closed(_ direction: StreamCore.Direction) {
        let isAlone = state.withLock { state in
            state.openCount -= 1
            return state.openCount == 0
        }
        switch direction {
        case .input: inbound.abandon()
        case .output:
            // Send the end of the stream even if the streams were never opened.
            state.withLock { $0.isOpen = true }
            outbound.finish()
        }
        guard isAlone else { return }
        guard outbound.failure == nil else { return close(isInterrupted: true) }
        DispatchQueue.global().call(after: .seconds(Self.patience)) { [weak self] in
            self?.close(isInterrupted: true)
        }
        endWhenSent()
    }

    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenEnded.append(body) }
        reportEnd()
    }

    func property(_ key: Stream.PropertyKey) -> AnyObject? { nil }
    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool { false }

    // MARK: Content

    private func pumpIn() {
        let room = state.withLock { state -> Int in
            let room = inbound.room
            guard state.isOpen, !state.isReading, room > 0 else { return 0 }
            state.isReading = true
            return room
        }
        guard room > 0 else { return }
        stream.receive(atMost: room) { [self] arrival in
            arrival.content.withUnsafeBytes { _ = inbound.write($0) }
            if let error = arrival.error {
                inbound.fail(error)
                outbound.fail(error)
                reportEnd()
            } else if arrival.isEnd {
                inbound.finish()
            }
            state.withLock { $0.isReading = false }
            pumpIn()
        }
    }

    private func pumpOut() {
        let isFinished = outbound.hasFinished
        let mustWrite = state.withLock { state in
            guard state.isOpen, state.output == .idle, isFinished || outbound.count > 0 else {
                return false
            }
            state.output = .writing
            return true
        }
        guard mustWrite else { return }
        var content = Data(count: Self.bufferSize)
        let count = content.withUnsafeMutableBytes { outbound.read(into: $0) }
        let isEnd = isFinished && count == 0
        if isEnd { state.withLock { $0.output = .writingEnd } }
        stream.send(content.prefix(count), isFinal: isEnd) { [self] error in
            state.withLock { $0.output = isEnd ? .ended : .idle }
            if let error { outbound.fail(error) } else { pumpOut() }
            reportEnd()
            endWhenSent()
        }
    }

    private func endWhenSent() {
        let isOver = state.withLock { $0.openCount == 0 && $0.output == .ended }
        if isOver || state.withLock({ $0.openCount == 0 }) && outbound.failure != nil {
            close(isInterrupted: outbound.failure != nil)
        }
    }

    /// Closes the byte stream. Later calls do nothing, because a second call could abort a graceful close.
    private func close(isInterrupted: Bool) {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { stream.close(isInterrupted: isInterrupted) }
    }

    /// Calls the ``whenEnded(_:)`` closures if all written content was sent or can no longer be sent.
    private func reportEnd() {
        let hasFailed = outbound.failure != nil
        let waiting = state.withLock { state -> [@Sendable () -> Void] in
            guard hasFailed || state.output == .ended else { return [] }
            defer { state.whenEnded = [] }
            return state.whenEnded
        }
        for body in waiting { body() }
    }
}

extension Stream {
    /// Creates a stream pair over an open byte stream, and takes ownership of the byte stream.
    package class func streams(overBytes stream: any ByteStream) -> (input: InputStream, output: OutputStream) {
        let link = ByteStreamLink(stream)
        return (
            PipedInputStream(StreamCore(.input, link.inbound, link)),
            PipedOutputStream(StreamCore(.output, link.outbound, link))
        )
    }
}
