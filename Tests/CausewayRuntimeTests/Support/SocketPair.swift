import CausewaySystem

/// Two connected stream sockets. Sockets that a test leaves open are closed when this object is released.
final class SocketPair: Sendable {
    let near: CInt
    let far: CInt
    private let owned: LockedValue<Set<CInt>>

    init() {
        var fds: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, type, 0, &fds) == 0, "no socket pair: errno \(errno)")
        (near, far) = (fds[0], fds[1])
        owned = LockedValue(Set(fds))
    }

    /// Transfers the ownership of a descriptor to the caller.
    func give(_ fd: CInt) -> Descriptor {
        owned.withLock { owned in _ = owned.remove(fd) }
        return Descriptor(adopting: fd)
    }

    /// Closes the far socket, and waits until the near one has noticed it.
    func closeFar() {
        give(far).close()
        Self.awaitHangUp(near)
    }

    /// Waits until the other socket of the pair is closed.
    ///
    /// After the call that closes it, it can be open for a short time: if another test starts a program at this moment,
    /// the new process holds a copy of each descriptor until it runs the program.
    static func awaitHangUp(_ fd: CInt) {
        var entry = pollfd(fd: fd, events: 0, revents: 0)
        while poll(&entry, 1, -1) < 1 {}
    }

    func write(_ text: String, to fd: CInt) {
        var text = text
        _ = text.withUTF8 { Socket.send(fd, UnsafeRawBufferPointer($0)) }
    }

    /// Reads all available bytes; `nil` at the end of the stream.
    static func read(_ fd: CInt) -> String? {
        var text = ""
        let scratch = ThreadLocal.scratch
        while true {
            switch Socket.receive(fd, into: scratch) {
            case .moved(0): return text.isEmpty ? nil : text
            case .moved(let count): text += String(decoding: scratch[..<count], as: UTF8.self)
            case .wouldBlock, .failed: return text
            }
        }
    }

    /// Writes until the socket is full. Returns the number of written bytes.
    static func fill(_ fd: CInt) -> Int {
        var count = 0
        while case .moved(let some) = Socket.send(fd, UnsafeRawBufferPointer(ThreadLocal.scratch)) { count += some }
        return count
    }

    deinit {
        for fd in owned.withLock({ $0 }) { Descriptor(adopting: fd).close() }
    }
}
