package import CausewaySystem
internal import Synchronization

/// What a flow reads from and writes to.
package enum Transport: Sendable {
    /// A socket of the flow's own.
    case socket(CInt, Registration)
    /// One peer of a socket that many flows share.
    indirect case peer(SharedDatagramSocket, SocketAddress)
    /// A transport that a test plays.
    case scripted(any ScriptedTransport)

    var descriptor: CInt {
        switch self {
        case .socket(let fd, _): fd
        case .peer(let shared, _): shared.descriptor
        case .scripted: -1
        }
    }

    /// Ends the connection so that everything written still reaches the peer.
    func closeGracefully(on loop: any EventLoop, isReadOut: Bool) {
        switch self {
        case .socket(let fd, let registration):
            if !isReadOut { drain(fd) }
            loop.close(registration, Descriptor(adopting: fd))
        case .peer(let shared, let address): shared.forget(address)
        case .scripted(let script): script.close(abortively: false)
        }
    }

    /// The kernel answers with a reset when a socket is closed with bytes unread, and a reset may overtake what was sent
    /// (RFC 2525 §2.17). What the peer has sent so far is read and dropped, within a bound.
    private func drain(_ fd: CInt) {
        guard Socket.bytesReadable(fd) > 0 else { return }
        try? Socket.shutdownWrite(fd)
        for _ in 0..<64 {
            guard case .moved(let count) = Socket.receive(fd, into: ThreadLocal.scratch), count > 0 else { return }
        }
    }

    /// Ends the connection with a reset.
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

/// A transport without a kernel: tests say what each call gives.
package protocol ScriptedTransport: AnyObject, Sendable {
    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult
    func write(_ pieces: UnsafeBufferPointer<iovec>) -> IOResult
    func shutdownWrite()
    func close(abortively: Bool)
    /// The pending error, reported once; 0 when there is none.
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

    /// Why a transport broke, which the kernel tells once; 0 when it has not.
    func takeLoss() -> (code: CInt, isBehindEnd: Bool) {
        if case .scripted(let script) = self { return (script.takeError(), false) }
        return Socket.takeLoss(descriptor)
    }

    /// Whether bytes of a stream have arrived that were not read.
    var hasUnread: Bool {
        switch self {
        case .socket(let fd, _): Socket.bytesReadable(fd) > 0
        case .scripted(let script): script.hasUnread
        case .peer: false
        }
    }

    /// A single piece needs no vector.
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
