internal import CausewayRuntime
package import CausewaySystem

/// The kernel's side of one stream socket, controlled by a test: arrived data, room for writes, and errors.
///
/// It behaves like the kernel. A read returns all data that fits; the end of the stream and an error are returned by separate reads. A
/// write accepts as many bytes as there is room for. Every call is recorded, also calls after the close.
package final class ScriptedKernel: ScriptedTransport {
    /// One gathered write (a write of several pieces): the number of pieces, the number of offered bytes, and the
    /// result.
    package struct Write: Equatable, Sendable {
        package var pieceCount: Int
        package var offered: Int
        package var result: IOResult

        package init(pieceCount: Int, offered: Int, result: IOResult) {
            self.pieceCount = pieceCount
            self.offered = offered
            self.result = result
        }
    }

    package enum Ending: Equatable, Sendable { case graceful, abortive }

    fileprivate struct State: Sendable {
        var arrived: [UInt8] = []
        /// The number of bytes in `arrived` that were read.
        var readCount = 0
        var isEnded = false
        var readFailure: CInt?
        var largestRead = Int.max
        var reads: [IOResult] = []

        var room: Int
        var largestWrite = Int.max
        var writeFailures: [CInt] = []
        var writes: [Write] = []
        var written: [UInt8] = []
        var shutdownPositions: [Int] = []

        var endings: [Ending] = []
        var callsAfterClose = 0
        var duringRead: (@Sendable (IOResult) -> Void)?
        var duringWrite: (@Sendable (IOResult) -> Void)?
    }

    private let state: LockedValue<State>

    /// - Parameter room: The number of bytes that writes accept. A further write would block.
    package init(room: Int = .max) { state = LockedValue(State(room: room)) }

    // MARK: Actions of the peer

    package func arrive(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        state.withLock { state in state.arrived += bytes }
    }

    /// Simulates that the peer ends its sending direction. When all data has been read, further reads return 0.
    package func end() { state.withLock { state in state.isEnded = true } }

    /// After all data was read, makes further reads fail with this error.
    package func failReads(_ errno: CInt) { state.withLock { state in state.readFailure = errno } }

    // MARK: Behaviour of the kernel

    /// Maximum number of bytes of one read, even if more are available.
    package var largestRead: Int {
        get { state.withLock { state in state.largestRead } }
        set { state.withLock { state in state.largestRead = max(1, newValue) } }
    }

    /// The number of bytes that further writes accept before they would block.
    package var room: Int {
        get { state.withLock { state in state.room } }
        set { state.withLock { state in state.room = newValue } }
    }

    /// Maximum number of bytes that one write accepts, even if the buffer has room for more.
    package var largestWrite: Int {
        get { state.withLock { state in state.largestWrite } }
        set { state.withLock { state in state.largestWrite = max(1, newValue) } }
    }

    /// Makes the next write fail with this error. Several calls affect several writes.
    package func failNextWrite(_ errno: CInt) { state.withLock { state in state.writeFailures.append(errno) } }

    /// Sets a closure that is called inside each read, to simulate an event during the system call. The read's result
    /// is already determined then, but the read has not returned.
    package func duringReads(_ body: (@Sendable (IOResult) -> Void)?) {
        state.withLock { state in state.duringRead = body }
    }

    /// Sets a closure that is called inside each write; see ``duringReads(_:)``.
    package func duringWrites(_ body: (@Sendable (IOResult) -> Void)?) {
        state.withLock { state in state.duringWrite = body }
    }

    // MARK: Recorded calls

    /// All bytes that the peer received.
    package var written: [UInt8] { state.withLock { state in state.written } }
    package var writes: [Write] { state.withLock { state in state.writes } }
    package var reads: [IOResult] { state.withLock { state in state.reads } }
    /// For each shutdown of the sending side, the number of bytes written before it.
    package var shutdownPositions: [Int] { state.withLock { state in state.shutdownPositions } }
    package var endings: [Ending] { state.withLock { state in state.endings } }
    /// Number of calls after the transport was closed. Must be 0.
    package var callsAfterClose: Int { state.withLock { state in state.callsAfterClose } }
    /// Number of bytes that have arrived but were not read yet.
    package var unread: Int { state.withLock { state in state.arrived.count - state.readCount } }

    // MARK: ScriptedTransport

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        let room = buffer.count
        let (bytes, result, hook) = state.withLock { state in
            let (bytes, result) = state.read(room)
            return (bytes, result, state.duringRead)
        }
        buffer.copyBytes(from: bytes)
        hook?(result)
        return result
    }

    package func write(_ pieces: UnsafeBufferPointer<iovec>) -> IOResult {
        var bytes: [UInt8] = []
        for piece in pieces { bytes += UnsafeRawBufferPointer(start: piece.iov_base, count: piece.iov_len) }
        let (offered, pieceCount) = (bytes, pieces.count)
        let (result, hook) = state.withLock { state in
            (state.write(offered, pieceCount), state.duringWrite)
        }
        hook?(result)
        return result
    }

    package func shutdownWrite() {
        state.withLock { state in
            state.noteCall()
            state.shutdownPositions.append(state.written.count)
        }
    }

    /// Returns the error from ``failReads(_:)``, but only once. Later reads return the end of the stream, as in the
    /// kernel.
    package func takeError() -> CInt {
        state.withLock { state in
            state.noteCall()
            guard let code = state.readFailure.take() else { return 0 }
            state.isEnded = true
            return code
        }
    }

    package var hasUnread: Bool { unread > 0 }

    package func close(abortively: Bool) {
        state.withLock { state in state.endings.append(abortively ? .abortive : .graceful) }
    }
}

extension ScriptedKernel.State {
    fileprivate mutating func noteCall() {
        if !endings.isEmpty { callsAfterClose += 1 }
    }

    fileprivate mutating func read(_ length: Int) -> (ArraySlice<UInt8>, IOResult) {
        noteCall()
        let bytes = arrived[readCount...].prefix(min(length, largestRead))
        readCount += bytes.count
        if readCount == arrived.count { (arrived, readCount) = ([], 0) }
        let result: IOResult
        if !bytes.isEmpty {
            result = .moved(bytes.count)
        } else if let code = readFailure {
            result = .failed(code)
        } else {
            result = isEnded ? .moved(0) : .wouldBlock
        }
        reads.append(result)
        return (bytes, result)
    }

    fileprivate mutating func write(_ bytes: [UInt8], _ pieceCount: Int) -> IOResult {
        noteCall()
        let result: IOResult
        if let code = writeFailures.first {
            writeFailures.removeFirst()
            result = .failed(code)
        } else if !bytes.isEmpty, room <= 0 {
            result = .wouldBlock
        } else {
            let taken = min(bytes.count, room, largestWrite)
            if room != .max { room -= taken }
            written += bytes.prefix(taken)
            result = .moved(taken)
        }
        writes.append(ScriptedKernel.Write(pieceCount: pieceCount, offered: bytes.count, result: result))
        return result
    }
}
