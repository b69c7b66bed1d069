package import CausewaySystem
internal import Synchronization

/// What carries a flow's bytes: its own socket, a shared socket, or a simulated transport.
package enum Transport: Sendable {
    /// A socket that belongs to this flow alone.
    case socket(CInt, Registration)
    /// One peer of a socket that several flows share.
    indirect case peer(SharedDatagramSocket, SocketAddress)
    /// A simulated transport for tests.
    case scripted(any ScriptedTransport)

    var descriptor: CInt {
        switch self {
        case .socket(let fd, _): fd
        case .peer(let shared, _): shared.descriptor
        case .scripted: -1
        }
    }

    /// Closes the connection. All written bytes still reach the peer.
    func closeGracefully(on loop: any EventLoop, isReadOut: Bool) {
        switch self {
        case .socket(let fd, let registration):
            if !isReadOut { drain(fd) }
            loop.close(registration, Descriptor(adopting: fd))
        case .peer(let shared, let address): shared.forget(address)
        case .scripted(let script): script.close(abortively: false)
        }
    }

    /// Reads and discards the bytes that have already arrived, with a limited number of read calls. If a socket is
    /// closed while it has unread bytes, the kernel sends a reset. The reset can destroy sent data that the peer has
    /// not read yet (RFC 2525 §2.17).
    private func drain(_ fd: CInt) {
        guard Socket.bytesReadable(fd) > 0 else { return }
        try? Socket.shutdownWrite(fd)
        for _ in 0..<64 {
            guard case .moved(let count) = Socket.receive(fd, into: ThreadLocal.scratch), count > 0 else { return }
        }
    }

    /// Closes the connection with a reset.
    func abort(on loop: any EventLoop) {
        switch self {
        case .socket(let fd, let registration):
            Socket.abortOnClose(fd)
            loop.close(registration, Descriptor(adopting: fd))
        case .peer(let shared, let address): shared.forget(address)
        case .scripted(let script): script.close(abortively: true)
        }
    }

    func discard(on loop: any EventLoop) {
        switch self {
        case .socket(let fd, let registration): loop.close(registration, Descriptor(adopting: fd))
        case .peer(let shared, let address): shared.forget(address)
        case .scripted(let script): script.close(abortively: false)
        }
    }
}

/// A transport without a kernel: a test determines each call's result.
package protocol ScriptedTransport: AnyObject, Sendable {
    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult
    func write(_ pieces: UnsafeBufferPointer<iovec>) -> IOResult
    func shutdownWrite()
    func close(abortively: Bool)
    /// Returns the pending error and clears it; 0 if no error is pending.
    func takeError() -> CInt
    var hasUnread: Bool { get }
}

extension Transport {
    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        switch self {
        case .socket(let fd, _): Socket.receive(fd, into: buffer)
        case .scripted(let script): script.read(into: buffer)
        case .peer: .wouldBlock
        }
    }

    func write(_ pieces: UnsafeBufferPointer<iovec>) -> IOResult {
        switch self {
        case .socket(let fd, _): Socket.send(fd, gathering: pieces)
        case .scripted(let script): script.write(pieces)
        case .peer: .failed(Errno.invalid)
        }
    }

    /// Returns the error code of a broken transport; 0 if the transport is intact. The kernel reports the error only
    /// once.
    func takeLoss() -> (code: CInt, isBehindEnd: Bool) {
        if case .scripted(let script) = self { return (script.takeError(), false) }
        return Socket.takeLoss(descriptor)
    }

    /// Whether the kernel has unread bytes of a stream.
    var hasUnread: Bool {
        switch self {
        case .socket(let fd, _): Socket.bytesReadable(fd) > 0
        case .scripted(let script): script.hasUnread
        case .peer: false
        }
    }

    /// Writes one piece of content. On a socket, a plain send call is enough. Other transports need an array of pieces
    /// (`iovec`), which here has one entry.
    func write(single bytes: UnsafeRawBufferPointer) -> IOResult {
        if case .socket(let fd, _) = self { return Socket.send(fd, bytes) }
        var piece = iovec(rebasing: bytes)
        return withUnsafePointer(to: &piece) { write(UnsafeBufferPointer(start: $0, count: 1)) }
    }

    func shutdownWrite() -> CInt {
        switch self {
        case .socket(let fd, _):
            do {
                try Socket.shutdownWrite(fd)
                return 0
            } catch {
                return error.errno
            }
        case .scripted(let script): script.shutdownWrite()
        case .peer: break
        }
        return 0
    }
}
