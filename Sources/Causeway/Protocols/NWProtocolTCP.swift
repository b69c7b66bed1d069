/// The transmission control protocol: a namespace.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties.
public class NWProtocolTCP: NWProtocol, @unchecked Sendable {
    /// The identity of TCP.
    public static let definition = NWProtocolDefinition(name: "tcp")

    /// The state of a connection's TCP buffers.
    ///
    /// Read it from ``NWConnection/metadata(definition:)``. The values are live: each read asks the socket. They are 0
    /// once the connection has ended.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is an immutable weak reference to a `Sendable` object.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        private weak let source: (any TCPMetadataSource)?

        package init(source: any TCPMetadataSource) {
            self.source = source
            super.init(definition: NWProtocolTCP.definition)
        }

        /// How many bytes have arrived and were not read yet.
        public var availableReceiveBuffer: UInt32 { source?.availableReceiveBuffer ?? 0 }

        /// How many bytes were sent and are not acknowledged yet.
        public var availableSendBuffer: UInt32 { source?.availableSendBuffer ?? 0 }

        /// The subflows of a connection that speaks Multipath TCP (RFC 8684), the oldest first, at most eight.
        ///
        /// Empty if the connection speaks TCP: it was not to use several paths
        /// (``NWParameters/multipathServiceType-swift.property``), or the peer, something on the way or the kernel does not know how.
        ///
        /// Apple's metadata has no counterpart.
        public var subflows: [Subflow] {
            (source?.subflowAddresses ?? []).map { Subflow(localEndpoint: $0.local, remoteEndpoint: $0.remote) }
        }

        /// One of the TCP connections that a Multipath TCP connection consists of. Apple's metadata has no counterpart.
        public struct Subflow: Hashable, Sendable {
            /// Where it begins: an address of one of the host's interfaces.
            public let localEndpoint: NWEndpoint
            /// Where it ends.
            public let remoteEndpoint: NWEndpoint
        }
    }
}

/// Where ``NWProtocolTCP/Metadata`` reads its values: the flow over a TCP socket.
package protocol TCPMetadataSource: AnyObject, Sendable {
    /// Bytes in the receive buffer (`FIONREAD`).
    var availableReceiveBuffer: UInt32 { get }
    /// Bytes in the send buffer (`SIOCOUTQ`).
    var availableSendBuffer: UInt32 { get }
    /// Of Multipath TCP.
    var subflowAddresses: [(local: NWEndpoint, remote: NWEndpoint)] { get }
}
