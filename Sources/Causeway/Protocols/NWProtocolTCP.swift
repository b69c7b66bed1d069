/// The namespace for TCP, the Transmission Control Protocol (RFC 9293).
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties.
public class NWProtocolTCP: NWProtocol, @unchecked Sendable {
    /// The definition of TCP.
    public static let definition = NWProtocolDefinition(name: "tcp")

    /// The current state of a connection's socket buffers.
    ///
    /// Get the object from ``NWConnection/metadata(definition:)``. Each access to a property reads the value from the socket; after the
    /// connection has ended all values are 0.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is an immutable weak reference to a `Sendable` object.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        private weak let source: (any TCPMetadataSource)?

        package init(source: any TCPMetadataSource) {
            self.source = source
            super.init(definition: NWProtocolTCP.definition)
        }

        /// Received bytes not yet read by the program, or by the protocol above TCP: in the kernel (`FIONREAD`) and in Causeway's
        /// read-ahead buffer.
        public var availableReceiveBuffer: UInt32 { source?.availableReceiveBuffer ?? 0 }

        /// The number of bytes in the kernel's send buffer (`SIOCOUTQ`), plus the number of bytes that wait for space
        /// in that buffer. The kernel keeps sent bytes until the peer acknowledges them.
        public var availableSendBuffer: UInt32 { source?.availableSendBuffer ?? 0 }

        /// The subflows of a Multipath TCP connection (RFC 8684), oldest first, at most eight.
        ///
        /// Empty if the connection uses plain TCP: because ``NWParameters/multipathServiceType-swift.property`` is
        /// `.disabled`, or because the peer, a device on the path or the kernel does not support Multipath TCP. Apple's
        /// framework has no counterpart.
        public var subflows: [Subflow] {
            (source?.subflowAddresses ?? []).map { Subflow(localEndpoint: $0.local, remoteEndpoint: $0.remote) }
        }

        /// One of the TCP connections that make up a Multipath TCP connection. Apple's framework has no counterpart.
        public struct Subflow: Hashable, Sendable {
            /// The subflow's local endpoint: an address on one of this host's interfaces.
            public let localEndpoint: NWEndpoint
            /// The subflow's remote endpoint: one of the peer's addresses.
            public let remoteEndpoint: NWEndpoint
        }
    }
}

/// Supplies the values for ``NWProtocolTCP/Metadata``.
///
/// `Flow` conforms to this protocol. It is the class that sends and receives over a connection's socket.
package protocol TCPMetadataSource: AnyObject, Sendable {
    /// The number of bytes in the receive buffers.
    var availableReceiveBuffer: UInt32 { get }
    /// The number of bytes in the send buffers.
    var availableSendBuffer: UInt32 { get }
    /// The addresses of the Multipath TCP subflows; empty for plain TCP.
    var subflowAddresses: [(local: NWEndpoint, remote: NWEndpoint)] { get }
}
