import CausewaySystem
import FoundationEssentials

/// Reads a socket's state from the kernel. A test waits for this state instead of sleeping.
enum KernelSocket {
    /// Whether the socket cannot send another byte: its buffer and the peer's receive window are full. This state lasts
    /// until the peer reads.
    static func isFull(_ fd: CInt) -> Bool {
        guard isWindowClosed(fd) else { return false }
        var entry = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 0
    }

    /// Whether the backlog of a listening socket is full, so that the kernel drops further handshakes. This state lasts
    /// until the listener accepts a connection.
    static func isBacklogFull(_ fd: CInt) -> Bool {
        // For a listening socket, the kernel reports the length of the backlog and its limit in these two fields.
        guard let found = information(of: fd) else { return false }
        return found.tcpi_unacked > found.tcpi_sacked
    }

    /// Whether the peer's receive window is closed. This is so if bytes wait to be sent and none is in transit to the
    /// peer.
    private static func isWindowClosed(_ fd: CInt) -> Bool {
        guard let found = information(of: fd) else { return false }
        return found.tcpi_unacked == 0 && Socket.bytesUnsent(fd) > 0
    }

    private static func information(of fd: CInt) -> tcp_info? {
        var information = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(fd, CInt(IPPROTO_TCP), TCP_INFO, &information, &length) == 0 else { return nil }
        return information
    }
}
