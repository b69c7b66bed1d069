import Glibc

/// The yardstick: one thread, one epoll set, blocking on nothing else. It echoes, or reads and drops.
///
/// It runs until its process ends.
enum PlainServer {
    enum Work: Sendable { case echo, sink }

    /// Returns the port.
    static func start(_ work: Work) -> UInt16 {
        let listener = RawSocket.listen()
        Worker.start { serve(listener, work) }
        return RawSocket.port(of: listener)
    }

    private static func serve(_ listener: CInt, _ work: Work) {
        let epoll = epoll_create1(CInt(EPOLL_CLOEXEC.rawValue))
        watch(listener, epoll)
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        let block = UnsafeMutableRawPointer.allocate(byteCount: 256 << 10, alignment: 16)
        while true {
            let count = Int(epoll_wait(epoll, &events, CInt(events.count), -1))
            for index in 0..<max(0, count) {
                let fd = events[index].data.fd
                if fd == listener {
                    watch(accept4(listener, nil, nil, CInt(SOCK_CLOEXEC.rawValue)), epoll)
                } else {
                    handle(fd, work, block)
                }
            }
        }
    }

    private static func handle(_ fd: CInt, _ work: Work, _ block: UnsafeMutableRawPointer) {
        let length = work == .echo ? 16 << 10 : 256 << 10
        let received = recv(fd, block, length, 0)
        guard received > 0 else {
            close(fd)
            return
        }
        if work == .echo { _ = send(fd, block, received, CInt(MSG_NOSIGNAL.rawValue)) }
    }

    private static func watch(_ fd: CInt, _ epoll: CInt) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.fd = fd
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)
    }
}

/// Sockets without any library.
enum RawSocket {
    static func listen() -> CInt {
        let fd = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        withLoopback(port: 0) { address, length in _ = bind(fd, address, length) }
        _ = Glibc.listen(fd, 4_096)
        return fd
    }

    static func connect(to port: UInt16) -> CInt {
        let fd = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        withLoopback(port: port) { address, length in
            guard Glibc.connect(fd, address, length) == 0 else {
                perror("connect")
                exit(1)
            }
        }
        var on: CInt = 1
        setsockopt(fd, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        return fd
    }

    static func port(of fd: CInt) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(fd, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func withLoopback(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// A thread of the operating system.
enum Worker {
    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Box(body)).toOpaque()
        let status = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, context)
        precondition(status == 0, "no thread")
        pthread_detach(thread)
    }
}
