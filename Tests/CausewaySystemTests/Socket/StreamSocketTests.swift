import CausewaySystem
import Testing

@Suite("Stream socket")
struct StreamSocketTests {
    /// Returns both ends of a connection over loopback, and the listener.
    static func connect(_ address: SocketAddress) throws -> (client: CInt, server: CInt, listener: CInt) {
        let listener = try Socket.open(address.family, .stream)
        try Socket.bind(listener.rawValue, to: address)
        try Socket.listen(listener.rawValue, backlog: 4)
        var noPeer: SocketAddress?
        #expect(try Socket.accept(listener.rawValue, peer: &noPeer)?.release() == nil)
        let client = try Socket.open(address.family, .stream)
        let bound = try #require(Socket.localAddress(listener.rawValue))
        if try !Socket.connect(client.rawValue, to: bound) { awaitEvent(client.rawValue, POLLOUT) }
        #expect(Socket.takeError(client.rawValue) == 0)
        awaitEvent(listener.rawValue, POLLIN)
        var peer: SocketAddress?
        let server = try #require(try Socket.accept(listener.rawValue, peer: &peer)?.release())
        #expect(peer == Socket.localAddress(client.rawValue))
        return (client.release(), server, listener.release())
    }

    static func awaitEvent(_ fd: CInt, _ event: CInt) {
        var entry = pollfd(fd: fd, events: Int16(event), revents: 0)
        #expect(poll(&entry, 1, 30_000) == 1)
    }

    static func close(_ ends: (client: CInt, server: CInt, listener: CInt)) {
        for fd in [ends.client, ends.server, ends.listener] { Descriptor(adopting: fd).close() }
    }

    static func read(_ fd: CInt) -> IOResult { Socket.receive(fd, into: ThreadLocal.scratch) }

    static func write(_ fd: CInt, _ text: String) -> IOResult {
        var text = text
        return text.withUTF8 { Socket.send(fd, UnsafeRawBufferPointer($0)) }
    }

    @Test("Moves bytes, ends one direction, and reports the results", arguments: SocketAddressTests.loopbacks)
    func conversation(_ address: SocketAddress) throws {
        let ends = try Self.connect(address)
        defer { Self.close(ends) }
        #expect(Self.read(ends.server) == .wouldBlock && Socket.bytesReadable(ends.server) == 0)
        #expect(Self.write(ends.client, "hello") == .moved(5))
        Self.awaitEvent(ends.server, POLLIN)
        #expect(Socket.bytesReadable(ends.server) == 5)
        #expect(Self.read(ends.server) == .moved(5))
        #expect(String(decoding: ThreadLocal.scratch[..<5], as: UTF8.self) == "hello")
        try Socket.shutdownWrite(ends.client)
        Self.awaitEvent(ends.server, POLLIN)
        #expect(Self.read(ends.server) == .moved(0))
        // The direction from server to client is still open.
        #expect(Self.write(ends.server, "bye") == .moved(3))
        Self.awaitEvent(ends.client, POLLIN)
        #expect(Self.read(ends.client) == .moved(3))
    }

    @Test("Gathers parts into one send")
    func gathers() throws {
        let ends = try Self.connect(SocketAddressTests.loopbacks[0])
        defer { Self.close(ends) }
        var (first, second) = ([UInt8]("ab".utf8), [UInt8]("cde".utf8))
        let result = first.withUnsafeMutableBytes { first in
            second.withUnsafeMutableBytes { second in
                let pieces = [
                    iovec(iov_base: first.baseAddress, iov_len: 2), iovec(iov_base: second.baseAddress, iov_len: 3),
                ]
                return pieces.withUnsafeBufferPointer { Socket.send(ends.client, gathering: $0) }
            }
        }
        #expect(result == .moved(5))
        Self.awaitEvent(ends.server, POLLIN)
        #expect(Self.read(ends.server) == .moved(5))
        #expect(String(decoding: ThreadLocal.scratch[..<5], as: UTF8.self) == "abcde")
    }

    @Test("Sending to a closed peer is an error and raises no signal")
    func noSignal() throws {
        var received: sigset_t = sigset_t()
        let ends = try Self.connect(SocketAddressTests.loopbacks[0])
        Descriptor(adopting: ends.server).close()
        defer {
            Descriptor(adopting: ends.client).close()
            Descriptor(adopting: ends.listener).close()
        }
        Self.awaitEvent(ends.client, POLLIN)
        var results: [IOResult] = []
        for _ in 0..<100 where results.last != .failed(EPIPE) {
            results.append(Self.write(ends.client, "x"))
            // The peer replies to the first byte with a TCP reset. Wait for this reset.
            if results.count == 1 { Self.awaitEvent(ends.client, POLLERR | POLLHUP) }
        }
        #expect(results.last == .failed(EPIPE) || results.contains(.failed(ECONNRESET)))
        // No SIGPIPE signal is pending, so no blocked SIGPIPE exists. An unblocked SIGPIPE would have ended the
        // process.
        sigpending(&received)
        #expect(sigismember(&received, SIGPIPE) == 0)
        let handler = signal(SIGPIPE, SIG_DFL)
        signal(SIGPIPE, handler)
    }

    @Test("A reset reaches the peer as a reset")
    func reset() throws {
        let ends = try Self.connect(SocketAddressTests.loopbacks[0])
        defer {
            Descriptor(adopting: ends.server).close()
            Descriptor(adopting: ends.listener).close()
        }
        Socket.abortOnClose(ends.client)
        Descriptor(adopting: ends.client).close()
        Self.awaitEvent(ends.server, POLLIN)
        #expect(Self.read(ends.server) == .failed(ECONNRESET))
    }

    @Test("A refused connection is reported on request", arguments: SocketAddressTests.loopbacks)
    func refused(_ address: SocketAddress) throws {
        let reserved = try Socket.open(address.family, .stream)
        try Socket.bind(reserved.rawValue, to: address)
        let bound = try #require(Socket.localAddress(reserved.rawValue))
        let client = try Socket.open(address.family, .stream)
        do throws(SystemError) {
            if try Socket.connect(client.rawValue, to: bound) { Issue.record("connected without a listener") }
            Self.awaitEvent(client.rawValue, POLLOUT)
            #expect(Socket.takeError(client.rawValue) == ECONNREFUSED)
        } catch {
            #expect(error == SystemError(errno: ECONNREFUSED, call: "connect"))
        }
        // The earlier read of the socket error has cleared the error.
        #expect(Socket.takeError(client.rawValue) == 0)
    }

    @Test("Counters of the kernel")
    func information() throws {
        let ends = try Self.connect(SocketAddressTests.loopbacks[0])
        defer { Self.close(ends) }
        #expect(Self.write(ends.client, "hello") == .moved(5))
        Self.awaitEvent(ends.server, POLLIN)
        #expect(Self.read(ends.server) == .moved(5))
        let (client, server) = (try TCPInformation(of: ends.client), try TCPInformation(of: ends.server))
        #expect(client.bytesSent == 5 && server.bytesReceived == 5)
        #expect(client.maximumSegment > 500 && client.smoothedRTT > .zero)
        let datagram = try Socket.open(.ipv4, .datagram)
        #expect(throws: SystemError.self) { try TCPInformation(of: datagram.rawValue) }
    }
}
