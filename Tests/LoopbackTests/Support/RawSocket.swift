import CausewaySystem
import Foundation

/// A socket without Causeway's connections, for peers that misbehave.
final class RawSocket: Sendable {
    let fd: CInt
    private let isOpen = LockedValue(true)

    init(_ descriptor: consuming Descriptor) { fd = descriptor.release() }

    deinit { close() }

    func close() {
        let mustClose = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if mustClose { Descriptor(adopting: fd).close() }
    }

    /// Ends calls that wait for the socket. Without this, a waiting ``accept()`` blocks its thread.
    func endWaits() { _ = shutdown(fd, CInt(SHUT_RDWR)) }

    /// Ends the outgoing half of the stream.
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
            try await socket.wait(for: POLLOUT)
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

    // MARK: Transfer

    func accept() async throws -> RawSocket {
        while true {
            var peer: SocketAddress?
            if let descriptor = try Socket.accept(fd, peer: &peer) { return RawSocket(descriptor) }
            try await wait(for: POLLIN)
        }
    }

    /// Writes all of the data.
    func write(_ data: Data) async throws {
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

    /// Reads the next bytes; empty at the end of a stream.
    func read(atMost limit: Int = 65_536) async throws -> Data {
        var block = [UInt8](repeating: 0, count: limit)
        while true {
            switch block.withUnsafeMutableBytes({ Socket.receive(fd, into: $0) }) {
            case .moved(let count): return Data(block[..<count])
            case .wouldBlock: try await wait(for: POLLIN)
            case .failed(let code): throw SystemError(errno: code, call: "recv")
            }
        }
    }

    /// Reads up to the end of the stream.
    func readAll() async throws -> Data {
        var all = Data()
        while true {
            let piece = try await read()
            if piece.isEmpty { return all }
            all += piece
        }
    }

    private func wait(for events: Int32) async throws {
        let fd = fd
        let status = await withCheckedContinuation { continuation in
            // Not on Dispatch's pool, which has few threads: the code under test needs them.
            Thread.detachNewThread {
                var entry = pollfd(fd: fd, events: Int16(events), revents: 0)
                continuation.resume(returning: poll(&entry, 1, CInt(Patience.limit.components.seconds) * 1_000))
            }
        }
        guard status > 0 else { throw SystemError(errno: ETIMEDOUT, call: "poll") }
    }
}
