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

    /// The index of the interface whose link processes the datagram. If the value is `nil`, ignore the datagram: it
    /// arrived over another interface, whose socket receives it as well.
    package var reader: Int? {
        // Process a unicast packet for the interface on which it arrived: if several sockets share the port, the kernel
        // delivers the packet to an arbitrary one of them, perhaps of another interface.
        guard isMulticast, interface != link else { return interface }
        guard interface != 0 else { return link }
        switch peer.family {
        // If sockets share the port with `SO_REUSEPORT`, the kernel may deliver a packet only to the socket of another
        // interface. So the packet must be processed for the interface on which it arrived.
        case .ipv4: return interface
        // An IPv6 socket receives the group's packets from every interface on which any socket has joined the group.
        // Ignore packets from another interface: otherwise this host would treat its own records on its other links as
        // conflicts.
        case .ipv6, .unix: return nil
        }
    }
}
