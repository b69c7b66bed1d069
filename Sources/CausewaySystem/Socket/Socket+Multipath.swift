internal import CCausewayLinux

/// One of the TCP connections that a Multipath TCP connection consists of (RFC 8684).
package struct Subflow: Sendable {
    package var local: SocketAddress
    package var remote: SocketAddress
    package var information: TCPInformation
}

extension Socket {
    /// The subflows of a connection, the oldest first. `nil` if it speaks TCP: because it was not to speak anything else, or
    /// because the peer, something on the way or the kernel does not (RFC 8684 §3.7).
    package static func subflows(_ fd: CInt) -> [Subflow]? {
        withUnsafeTemporaryAllocation(of: cw_subflow.self, capacity: Int(CW_SUBFLOWS)) { block in
            let count = cw_subflows(fd, block.baseAddress)
            guard count >= 0 else { return nil }
            return block.prefix(Int(count)).compactMap { entry in
                var (local, remote) = (entry.local, entry.remote)
                guard let local = SocketAddress(&local), let remote = SocketAddress(&remote) else { return nil }
                return Subflow(
                    local: local.unmapped, remote: remote.unmapped, information: TCPInformation(entry.information))
            }
        }
    }
}
