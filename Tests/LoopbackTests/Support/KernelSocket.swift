import CausewaySystem
import FoundationEssentials

/// The state of a socket in the kernel, which a test waits for instead of sleeping.
enum KernelSocket {
    /// Whether neither the peer nor the socket's buffer takes another byte. This does not change until the peer reads.
    static func isFull(_ fd: CInt) -> Bool {
        guard isWindowClosed(fd) else { return false }
        var entry = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 0
    }

    /// Whether the peer's receive window is closed: bytes are waiting, and none of them is on its way to the peer.
    private static func isWindowClosed(_ fd: CInt) -> Bool {
        var information = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(fd, CInt(IPPROTO_TCP), TCP_INFO, &information, &length) == 0 else { return false }
        return information.tcpi_unacked == 0 && Socket.bytesUnsent(fd) > 0
    }
}
