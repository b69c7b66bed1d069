import CausewaySystem
import Foundation

/// A plain socket for peers that misbehave. It does not use Causeway's connections.
///
/// Calls that wait run on their own threads and use the descriptor's number. The descriptor is closed only after the
/// last such call has returned. Otherwise the process's next socket could get the same number.
final class RawSocket: Sendable {
    private struct Use {
        var isOpen = true
        var callCount = 0
    }

    let fd: CInt
    private let use = LockedValue(Use())

    init(_ descriptor: consuming Descriptor) { fd = descriptor.release() }

    deinit { close() }

    /// Closes the socket. Calls that wait for it throw `EBADF`.
    func close() {
        let callCount = use.withLock { use -> Int? in
            guard use.isOpen else { return nil }
            use.isOpen = false
            return use.callCount
        }
        guard let callCount else { return }
        if callCount == 0 { closeDescriptor() } else { _ = shutdown(fd, CInt(SHUT_RDWR)) }
    }

    private func closeDescriptor() { Descriptor(adopting: fd).close() }

    /// Calls `body`, and keeps the descriptor open until `body` returns.
    private func using<Result>(_ body: () async throws -> Result) async throws -> Result {
        try use.withLock { use in
            try check(use)
            use.callCount += 1
        }
        defer {
            let isLast = use.withLock { use in
                use.callCount -= 1
                return !use.isOpen && use.callCount == 0
            }
            if isLast { closeDescriptor() }
        }
        return try await body()
    }

    private func check(_ use: Use) throws {
        if !use.isOpen { throw SystemError(errno: EBADF, call: "poll") }
    }

    /// Ends the sending direction of the stream. The socket can still receive.
    func finishWriting() { _ = shutdown(fd, CInt(SHUT_WR)) }

    /// Closes with a reset.
    func reset() {
        Socket.abortOnClose(fd)
        close()
    }

    var port: UInt16 { Socket.localAddress(fd)?.port ?? 0 }

    // MARK: Creation

    static func connected(to address: SocketAddress, _ kind: Socket.Kind = .stream) async throws -> RawSocket {
        let socket = RawSocket(try Socket.open(address.family, kind))
        if try !Socket.connect(socket.fd, to: address) {
            try await socket.using { try await socket.wait(for: POLLOUT) }
            let code = Socket.takeError(socket.fd)
            if code != 0 { throw SystemError(errno: code, call: "connect") }
        }
        return socket
    }

    /// Creates a bound datagram socket on a free port.
    static func bound(_ medium: Medium) throws -> RawSocket {
        let socket = RawSocket(try Socket.open(medium.family, .datagram))
        try Socket.bind(socket.fd, to: medium.socketAddress(port: 0))
        return socket
    }

    static func listening(_ medium: Medium, backlog: CInt = 16) throws -> RawSocket {
        let socket = RawSocket(try Socket.open(medium.family, .stream))
        try Socket.bind(socket.fd, to: medium.socketAddress(port: 0))
        try Socket.listen(socket.fd, backlog: backlog)
        return socket
    }

    /// Creates a socket on a free port that refuses clients. No other socket can get the port as long as this one is
    /// open.
    static func refusing(_ medium: Medium) throws -> RawSocket {
        guard !medium.isStream else {
            // This socket never listens, so the kernel refuses connections to its port.
            let socket = RawSocket(try Socket.open(medium.family, .stream))
            try Socket.bind(socket.fd, to: medium.socketAddress(port: 0))
            return socket
        }
        // This socket is connected to itself, so the kernel refuses the datagrams of all other sockets.
        let socket = try bound(medium)
        _ = try Socket.connect(socket.fd, to: medium.socketAddress(port: socket.port))
        return socket
    }

    // MARK: Transfer

    func accept() async throws -> RawSocket {
        try await using {
            while true {
                var peer: SocketAddress?
                if let descriptor = try Socket.accept(fd, peer: &peer) { return RawSocket(descriptor) }
                try await wait(for: POLLIN)
            }
        }
    }

    /// Writes all of the data.
    func write(_ data: Data) async throws {
        try await using {
            var offset = 0
            while offset < data.count {
                let result = data.withUnsafeBytes { Socket.send(fd, UnsafeRawBufferPointer(rebasing: $0[offset...])) }
                switch result {
                case .moved(let count): offset += count
                case .wouldBlock: try await wait(for: POLLOUT)
                case .failed(let code): throw SystemError(errno: code, call: "send")
                }
            }
        }
    }

    /// Reads the next bytes; empty at the end of a stream.
    func read(atMost limit: Int = 65_536) async throws -> Data {
        try await using {
            var block = [UInt8](repeating: 0, count: limit)
            while true {
                switch block.withUnsafeMutableBytes({ Socket.receive(fd, into: $0) }) {
                case .moved(let count): return Data(block[..<count])
                case .wouldBlock: try await wait(for: POLLIN)
                case .failed(let code): throw SystemError(errno: code, call: "recv")
                }
            }
        }
    }

    /// Reads all bytes until the stream ends.
    func readAll() async throws -> Data {
        var all = Data()
        while true {
            let piece = try await read()
            if piece.isEmpty { return all }
            all += piece
        }
    }

    /// Reads and drops bytes until the peer has closed the connection. A reset is also an end: the kernel sends one if
    /// the peer closes its socket before it has read all bytes.
    func readUntilClosed() async throws {
        do {
            while !(try await read().isEmpty) {}
        } catch let error as SystemError where error.errno == Errno.connectionReset {}
    }

    private func wait(for events: Int32) async throws {
        let fd = fd
        let status = await withCheckedContinuation { continuation in
            // Use a new thread and not Dispatch's pool. The pool has few threads, and the code under test needs them.
            Thread.detachNewThread {
                var entry = pollfd(fd: fd, events: Int16(events), revents: 0)
                var status: CInt
                repeat {
                    status = poll(&entry, 1, CInt(Patience.limit.components.seconds) * 1_000)
                } while status < 0 && errno == EINTR
                continuation.resume(returning: status)
            }
        }
        guard status > 0 else { throw SystemError(errno: ETIMEDOUT, call: "poll") }
        try use.withLock { use in try check(use) }
    }
}
