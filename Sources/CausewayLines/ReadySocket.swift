internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import FoundationEssentials

/// A non-blocking stream socket. Its calls suspend the task instead of blocking a thread. The socket is closed when the
/// last reference to this object is released.
///
/// Cancellation: a waiting call throws `ECANCELED`, and has received and sent nothing.
final class ReadySocket: Sendable {
    private let descriptor: Descriptor
    private static let queue = DispatchQueue(label: "causeway.lines.sockets", target: .global())

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    static func connected(to address: SocketAddress) async throws -> ReadySocket {
        do {
            let socket = ReadySocket(try Socket.open(address.family, .stream))
            // Disables Nagle's algorithm, because each write is a complete line.
            try Socket.set(.noDelay, to: 1, on: socket.descriptor.rawValue)
            if try !Socket.connect(socket.descriptor.rawValue, to: address) {
                try await socket.writable()
                let code = Socket.takeError(socket.descriptor.rawValue)
                if code != 0 { throw NWError(errno: code) }
            }
            return socket
        } catch let error as SystemError {
            throw NWError(errno: error.errno)
        }
    }

    /// Listens on an address and accepts the first connection. Calls `announce` with the port as soon as the socket listens.
    static func accepted(
        at address: SocketAddress, announce: (UInt16) -> Void
    ) async throws -> (ReadySocket, SocketAddress?) {
        do {
            let listener = ReadySocket(try Socket.open(address.family, .stream))
            let number = listener.descriptor.rawValue
            // Lets a server restart while the previous process's connections are in TIME_WAIT.
            try Socket.set(.reuseAddress, to: 1, on: number)
            try Socket.bind(number, to: address)
            try Socket.listen(number, backlog: 1)
            announce(Socket.localAddress(number)?.port ?? 0)
            while true {
                var peer: SocketAddress?
                if let accepted = try Socket.accept(number, peer: &peer) { return (ReadySocket(accepted), peer) }
                try await listener.readable()
            }
        } catch let error as SystemError {
            throw NWError(errno: error.errno)
        }
    }

    /// Waits until at least one byte is available, then receives at most `limit` bytes. Returns empty data at the end of the stream.
    func read(atMost limit: Int) async throws -> Data {
        while true {
            let (result, content) = readNow(limit)
            switch result {
            case .moved: return content
            case .wouldBlock: try await readable()
            case .failed(let code): throw NWError(errno: code)
            }
        }
    }

    private func readNow(_ limit: Int) -> (IOResult, Data) {
        withUnsafeTemporaryAllocation(byteCount: limit, alignment: 16) { buffer in
            let result = Socket.receive(descriptor.rawValue, into: buffer)
            guard case .moved(let count) = result else { return (result, Data()) }
            return (result, Data(buffer[..<count]))
        }
    }

    /// Waits until the socket takes at least one byte. Returns the number of bytes that it has taken.
    func write(_ content: Data) async throws -> Int {
        while true {
            switch content.withUnsafeBytes({ Socket.send(descriptor.rawValue, $0) }) {
            case .moved(let count): return count
            case .wouldBlock: try await writable()
            case .failed(let code): throw NWError(errno: code)
            }
        }
    }

    func endWriting() throws {
        do throws(SystemError) {
            try Socket.shutdownWrite(descriptor.rawValue)
        } catch {
            throw NWError(errno: error.errno)
        }
    }

    /// Shuts down both directions: waiting calls return.
    func shutDown() { _ = shutdown(descriptor.rawValue, Int32(SHUT_RDWR)) }

    private func readable() async throws {
        try checkRoom()
        try await wait(for: DispatchSource.makeReadSource(fileDescriptor: descriptor.rawValue, queue: Self.queue))
    }

    private func writable() async throws {
        try checkRoom()
        try await wait(for: DispatchSource.makeWriteSource(fileDescriptor: descriptor.rawValue, queue: Self.queue))
    }

    private func checkRoom() throws {
        do throws(SystemError) { try System.checkRoomForSource() } catch { throw NWError(errno: error.errno) }
    }

    private func wait(for source: any DispatchSourceProtocol) async throws {
        let wait = SourceWait(source)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait.start(continuation) }
        } onCancel: {
            wait.cancel()
        }
        try checkTaskCancellation()
    }
}

/// A task's wait for the first event of a Dispatch source. Cancelling the source ends the wait.
private final class SourceWait: Sendable {
    private let source: Unchecked<any DispatchSourceProtocol>
    private let isStarted = LockedValue(false)

    init(_ source: any DispatchSourceProtocol) { self.source = Unchecked(source) }

    func start(_ continuation: CheckedContinuation<Void, Never>) {
        let source = source.value
        source.setEventHandler { source.cancel() }
        // Resume the task only in the cancel handler. The task may release the socket and so close the descriptor, but
        // Dispatch uses the descriptor until this handler runs.
        source.setCancelHandler { continuation.resume() }
        source.resume()
        isStarted.withLock { $0 = true }
        // A cancellation that came before the start found a source without handlers, and left it alone.
        if Task.isCancelled { source.cancel() }
    }

    /// Ends the wait if it has started. Called on any thread when the task is cancelled.
    func cancel() {
        if isStarted.withLock({ $0 }) { source.value.cancel() }
    }
}
