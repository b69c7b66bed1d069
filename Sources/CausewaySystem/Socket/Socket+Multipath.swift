internal import CCausewayLinux

/// One TCP connection in a Multipath TCP connection (RFC 8684).
package struct Subflow: Sendable {
    package var local: SocketAddress
    package var remote: SocketAddress
    package var information: TCPInformation
}

extension Socket {
    /// Returns a connection's subflows, the oldest first; `nil` for a plain TCP connection: Multipath TCP was not
    /// requested, or the peer, a middlebox or the kernel does not support it (RFC 8684 §3.7).
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
