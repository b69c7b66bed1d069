import CausewaySystem
import Testing

/// These tests run one at a time, because descriptor numbers belong to the whole process.
@Suite("Descriptor", .serialized)
struct DescriptorTests {
    /// Returns whether a descriptor number still refers to the same pipe. After the descriptor was closed, another test
    /// may have opened a file with the same number.
    private static func names(_ fd: CInt, _ inode: ino_t) -> Bool {
        var status = stat()
        return fstat(fd, &status) == 0 && status.st_ino == inode
    }

    private static func makePipe() -> (read: CInt, write: CInt, inode: ino_t) {
        var fds: [CInt] = [-1, -1]
        precondition(pipe(&fds) == 0)
        var status = stat()
        fstat(fds[0], &status)
        return (fds[0], fds[1], status.st_ino)
    }

    @Test("An explicit close closes once")
    func closedByHand() {
        let pipe = Self.makePipe()
        let write = Descriptor(adopting: pipe.write)
        Descriptor(adopting: pipe.read).close()
        #expect(!Self.names(pipe.read, pipe.inode) && Self.names(write.rawValue, pipe.inode))
        // The test detects a second close, because it would close the next descriptor with the same number.
        let next = Self.makePipe()
        #expect(Self.names(next.read, next.inode) && Self.names(next.write, next.inode))
        Descriptor(adopting: next.read).close()
        Descriptor(adopting: next.write).close()
    }

    @Test("The end of its lifetime closes it")
    func closedAtEnd() {
        let pipe = Self.makePipe()
        do {
            let read = Descriptor(adopting: pipe.read)
            #expect(Self.names(read.rawValue, pipe.inode))
        }
        #expect(!Self.names(pipe.read, pipe.inode))
        Descriptor(adopting: pipe.write).close()
    }

    @Test("A released number is closed by its new owner")
    func release() {
        let pipe = Self.makePipe()
        let number: CInt
        do { number = Descriptor(adopting: pipe.read).release() }
        #expect(number == pipe.read && Self.names(number, pipe.inode))
        Descriptor(adopting: number).close()
        Descriptor(adopting: pipe.write).close()
    }

    @Test(
        "Opened sockets are non-blocking and not inherited by other programs",
        arguments: [SocketAddress.Family.ipv4, .ipv6, .unix])
    func flags(_ family: SocketAddress.Family) throws {
        for kind in [Socket.Kind.stream, .datagram] {
            let socket = try Socket.open(family, kind)
            #expect(fcntl(socket.rawValue, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(socket.rawValue, F_GETFL) & O_NONBLOCK != 0)
        }
    }
}
