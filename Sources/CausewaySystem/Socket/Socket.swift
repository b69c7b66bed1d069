package import CCausewayLinux

/// Owns an open descriptor and closes it exactly once: by ``close()``, or when the value is destroyed.
package struct Descriptor: ~Copyable, Sendable {
    package let rawValue: CInt

    package init(adopting rawValue: CInt) {
        precondition(rawValue >= 0, "not an open descriptor")
        self.rawValue = rawValue
    }

    /// Transfers ownership: the caller must close the descriptor.
    package consuming func release() -> CInt {
        let value = rawValue
        discard self
        return value
    }

    package consuming func close() {
        _ = cw_close(rawValue)
        discard self
    }

    deinit { _ = cw_close(rawValue) }
}

/// The result of one non-blocking socket call.
package enum IOResult: Equatable, Sendable {
    /// The number of bytes read or written. If a stream read returns zero, the peer has ended its sending direction.
    case moved(Int)
    case wouldBlock
    case failed(CInt)

    init(_ result: Int) {
        if result >= 0 {
            self = .moved(result)
        } else if result == Int(-EAGAIN) || result == Int(-EINPROGRESS) {
            // EINPROGRESS comes from a first write with TCP Fast Open. The write has started the connection, but its
            // bytes were not sent (RFC 7413 §4.2).
            self = .wouldBlock
        } else {
            self = .failed(CInt(truncatingIfNeeded: -result))
        }
    }
}

/// Socket system calls. Descriptors are non-blocking and close-on-exec; no call raises `SIGPIPE`.
///
/// The functions take a descriptor number and are not methods on an owner, because one thread may read while another
/// writes. The descriptor's owner ensures that no thread uses it after closing.
package enum Socket {
    package enum Kind: Sendable { case stream, datagram }

    package static func open(
        _ family: SocketAddress.Family, _ kind: Kind, multipath: Bool = false
    ) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_socket(family.shimValue, kind == .datagram, multipath), "socket"))
    }

    /// Creates another file descriptor for the same socket.
    package static func duplicate(_ fd: CInt) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_duplicate(fd), "fcntl"))
    }

    package static func bind(_ fd: CInt, to address: SocketAddress) throws(SystemError) {
        var kernel = try address.kernelForm()
        try check(cw_bind(fd, &kernel), "bind")
    }

    package static func listen(_ fd: CInt, backlog: CInt) throws(SystemError) {
        try check(cw_listen(fd, backlog), "listen")
    }

    /// Starts connecting. Returns whether the connection is already established; if not, wait until the socket is
    /// writable.
    package static func connect(_ fd: CInt, to address: SocketAddress) throws(SystemError) -> Bool {
        var kernel = try address.kernelForm()
        let result = cw_connect(fd, &kernel)
        if result == -EINPROGRESS { return false }
        try check(result, "connect")
        return true
    }

    /// Connects a datagram socket a second time, so that the kernel selects a new local address from the current
    /// routes.
    ///
    /// - Parameters:
    ///   - fd: The datagram socket.
    ///   - address: The peer.
    ///   - interface: The interface to bind to; `nil` for the kernel's choice.
    package static func reconnect(
        _ fd: CInt, to address: SocketAddress, over interface: String?
    ) throws(SystemError) {
        var kernel = try address.kernelForm()
        try check(cw_reconnect(fd, &kernel, interface ?? ""), "connect")
    }

    /// Starts connecting, with data in the SYN if the kernel has the peer's Fast Open cookie (RFC 7413 §4). Wait until
    /// the socket is writable before sending more.
    ///
    /// - Returns: The number of sent bytes, which is 0 for the first connection to a peer; `nil` if the kernel does not
    ///   support Fast Open.
    package static func connect(
        _ fd: CInt, to address: SocketAddress, sending content: UnsafeRawBufferPointer
    ) throws(SystemError) -> Int? {
        var kernel = try address.kernelForm()
        var piece = iovec(iov_base: UnsafeMutableRawPointer(mutating: content.baseAddress), iov_len: content.count)
        let result = cw_send_fastopen(fd, &piece, 1, &kernel)
        switch result {
        case 0...: return Int(result)
        case -Int(EINPROGRESS), -Int(EAGAIN): return 0
        case -Int(EOPNOTSUPP), -Int(EINVAL), -Int(EPIPE), -Int(ENOTCONN): return nil
        default: throw SystemError(errno: CInt(truncatingIfNeeded: -result), call: "sendmsg(MSG_FASTOPEN)")
        }
    }

    /// Accepts the next connection in the backlog; `nil` if there is none.
    package static func accept(_ fd: CInt, peer: inout SocketAddress?) throws(SystemError) -> Descriptor? {
        var kernel = cw_address()
        let result = cw_accept(fd, &kernel)
        if result == -EAGAIN { return nil }
        try check(result, "accept")
        peer = SocketAddress(&kernel)
        return Descriptor(adopting: result)
    }

    /// Returns whether the backlog has another connection. If there is none, this call costs a tenth of
    /// ``accept(_:peer:)``, because accept(2) allocates a socket before it looks for a connection.
    package static func hasBacklog(_ fd: CInt) -> Bool {
        var entry = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    package static func receive(_ fd: CInt, into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        IOResult(cw_recv(fd, buffer.baseAddress, buffer.count))
    }

    package static func send(_ fd: CInt, _ bytes: UnsafeRawBufferPointer) -> IOResult {
        IOResult(cw_send(fd, bytes.baseAddress, bytes.count))
    }

    package static func send(_ fd: CInt, gathering pieces: UnsafeBufferPointer<iovec>) -> IOResult {
        IOResult(cw_sendv(fd, pieces.baseAddress, CInt(pieces.count)))
    }

    package static func shutdownWrite(_ fd: CInt) throws(SystemError) {
        try check(cw_shutdown_write(fd), "shutdown")
    }

    /// Returns the pending error as a positive errno and clears it; 0 if there is none.
    package static func takeError(_ fd: CInt) -> CInt { cw_take_error(fd) }

    /// Returns the pending error, like ``takeError(_:)``, and a second value. The second value states whether the peer
    /// had ended its sending direction before a reset arrived. In that case, the end of the stream can still be read.
    package static func takeLoss(_ fd: CInt) -> (code: CInt, isBehindEnd: Bool) {
        var isBehindEnd: CInt = 0
        let code = cw_take_loss(fd, &isBehindEnd)
        return (code, isBehindEnd != 0)
    }

    /// Makes close(2) send a reset.
    package static func abortOnClose(_ fd: CInt) { _ = cw_abort_on_close(fd) }

    /// Returns the kind of a socket; `nil` for a socket of another kind, and for other descriptors.
    package static func kind(of fd: CInt) -> Kind? {
        var kind: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else { return nil }
        if kind == CInt(SOCK_STREAM.rawValue) { return .stream }
        return kind == CInt(SOCK_DGRAM.rawValue) ? .datagram : nil
    }

    /// Returns whether the socket is a datagram socket.
    package static func isDatagram(_ fd: CInt) -> Bool { kind(of: fd) == .datagram }

    package static func localAddress(_ fd: CInt) -> SocketAddress? {
        var kernel = cw_address()
        return cw_local_address(fd, &kernel) == 0 ? SocketAddress(&kernel) : nil
    }

    package static func peerAddress(_ fd: CInt) -> SocketAddress? {
        var kernel = cw_address()
        return cw_peer_address(fd, &kernel) == 0 ? SocketAddress(&kernel) : nil
    }

    /// Returns the number of received bytes that are not yet read.
    package static func bytesReadable(_ fd: CInt) -> Int { max(0, Int(cw_bytes_readable(fd))) }

    /// Returns the number of written bytes that are not yet acknowledged.
    package static func bytesUnsent(_ fd: CInt) -> Int { max(0, Int(cw_bytes_unsent(fd))) }
}
