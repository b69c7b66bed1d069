package import CausewaySystem

/// A datagram's sender and receiving interface, and whether it was multicast.
package struct MulticastOrigin: Sendable {
    package var peer: SocketAddress
    /// The index of the interface on which the datagram arrived; 0 if the kernel does not report the interface.
    package var interface: Int
    package var isMulticast: Bool
    /// The index of the receiving socket's own interface.
    package var link: Int

    package init(peer: SocketAddress, interface: Int, isMulticast: Bool, link: Int) {
        self.peer = peer
        self.interface = interface
        self.isMulticast = isMulticast
        self.link = link
    }

    /// The index of the interface for whose link the datagram must be processed. `nil` if the datagram must be dropped.
    ///
    /// A datagram is dropped if it arrived over another interface, because the socket of that interface receives it
    /// too.
    package var reader: Int? {
        // Process a unicast packet for the interface over which it arrived. If several sockets share the port, the
        // kernel may deliver the packet to the socket of another interface.
        guard isMulticast, interface != link else { return interface }
        guard interface != 0 else { return link }
        switch peer.family {
        // If sockets share the port with `SO_REUSEPORT`, the kernel may deliver a packet only to the socket of another
        // interface. So the packet must be processed for the interface on which it arrived.
        case .ipv4: return interface
        // An IPv6 socket also receives the group's packets from other interfaces, if any socket on this host has joined
        // the group there. Ignore those packets. Otherwise this host would treat its own records on another link as
        // conflicts.
        case .ipv6, .unix: return nil
        }
    }
}
