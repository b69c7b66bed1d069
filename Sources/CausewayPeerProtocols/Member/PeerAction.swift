/// Work for the code that performs network I/O, and events for the program. Both are performed in order.
package enum PeerAction: Sendable, Equatable {
    // Links
    /// Dial, then report ``PeerMesh/dialSucceeded(_:_:at:)`` or ``PeerMesh/dialFailed(_:at:)``.
    case dial(LinkID, PeerDial)
    /// The link has output: call ``PeerMesh/takeOutput(_:atMost:at:)`` whenever the connection accepts content, until it returns `nil`.
    case output(LinkID)
    /// Close the connection when the bytes from ``PeerMesh/takeOutput(_:atMost:at:)`` are sent, or cancel the dial. The
    /// link's number is no longer valid.
    case close(LinkID)

    // Invitations
    /// Ask the program, then call ``PeerMesh/answer(_:with:at:)``.
    case invited(InvitationID, PeerInfo, context: [UInt8]?)
    /// The invitation needs no answer any more.
    case invitationEnded(InvitationID, PeerReason)

    // Trust
    /// A member's key is new, or the member became paired. Store the entry for ``PeerMesh/trust(_:)``.
    case pinned(MemberID, PinEntry)
    /// The key's entry was evicted to make space for another key. Remove the stored entry.
    case unpinned(PeerKey)
    /// A peer proved its key, but the policy refuses the peer, or the peer's pairing proof is wrong.
    case refused(PeerInfo, PeerReason)
    /// Sign the message with the session certificate's key, then call ``PeerMesh/certify(_:chain:proof:at:)``. This
    /// occurs only in sessions with ``SessionOptions/hasCertificate``.
    case sign(LinkID, MemberID, [UInt8])
    /// Ask the program to accept the peer, then call ``PeerMesh/judge(_:accepts:at:)``. This occurs only in sessions
    /// with ``SessionOptions/judges``.
    case judge(MemberID, CertificateClaim)
    /// A code comparison progressed.
    case verification(MemberID, VerificationEvent)

    // Members
    case state(MemberID, PeerInfo, MemberState)
    case message(MemberID, [UInt8], isReliable: Bool)
    /// A send returned ``SendResult/full``, and now less than 4 MiB are queued (``PeerLimits/window``).
    case space(MemberID)

    // Datagram lanes
    /// Open any free UDP port, on which the link's peer begins a DTLS 1.2 handshake with this secret. Call
    /// ``PeerMesh/datagramsListening(_:on:at:)`` when the port is open, and ``PeerMesh/datagramsReady(_:limit:at:)``
    /// after the handshake.
    case listenDatagrams(DatagramLaneID, beside: LinkID, DatagramSecret)
    /// Connect with DTLS 1.2 to the port on the link's remote host, then call ``PeerMesh/datagramsReady(_:limit:at:)``.
    case dialDatagrams(DatagramLaneID, beside: LinkID, port: UInt16, DatagramSecret)
    /// Send the datagram, then call ``PeerMesh/datagramSent(_:_:at:)``.
    case datagram(DatagramLaneID, [UInt8])
    /// Close the port or the DTLS connection for unreliable messages. Its number is no longer valid.
    case closeDatagrams(DatagramLaneID)
    /// The DTLS connection for a member's unreliable messages changed its state. This event is for diagnosis.
    case datagramLane(MemberID, DatagramLaneState)

    // Streams
    case streamOpened(ChannelID, name: String)
    case streamBytes(ChannelID, [UInt8])
    /// The stream ended cleanly. This is the stream's final event, on both sides. The receiver then calls
    /// ``PeerMesh/releaseStream(_:at:)``.
    case streamEnded(ChannelID)
    /// The stream was reset, or its member was lost. This is the stream's final event. The receiver of a stream that
    /// was reset then calls ``PeerMesh/releaseStream(_:at:)``.
    case streamFailed(ChannelID, PeerReason)
    /// The stream has space again, after it had accepted only a part of a write. It now accepts this number of bytes.
    case streamSpace(ChannelID, Int)

    // Resources
    /// Prepare a file, then call ``PeerMesh/fetch(_:from:at:)`` or ``PeerMesh/cancelResource(_:_:at:)``.
    case resourceOffered(ChannelID, ResourceOffer)
    /// Read the file, then call ``PeerMesh/provide(_:_:isLast:digest:at:)``. At most one read is pending per resource.
    case resourceWanted(ChannelID, offset: UInt64, count: Int)
    /// Write the bytes at the offset, then call ``PeerMesh/consumedResource(_:_:at:)``.
    case resourceBytes(ChannelID, offset: UInt64, [UInt8])
    /// All bytes arrived. Check the digest if there is one, store the file, then call ``PeerMesh/stored(_:at:)``, and
    /// ``PeerMesh/resourceTaken(_:at:)`` when the program has got the file.
    case resourceComplete(ChannelID, digest: [UInt8]?)
    /// The receiver stored the whole file. This is the sender's final event for the resource.
    case resourceDelivered(ChannelID)
    /// The resource was cancelled or lost. This is the resource's final event. The receiver of a cancelled resource
    /// calls ``PeerMesh/resourceTaken(_:at:)`` when the program has got the event.
    case resourceFailed(ChannelID, PeerReason)
}

/// A connection to open: TLS 1.3, ALPN `cw-peers/1`, certificates on both sides.
package struct PeerDial: Sendable, Equatable {
    package enum Purpose: Sendable, Equatable { case invitation, introduction, resumption, lane }

    package var peer: PeerKey
    /// Known addresses, best first. Also try the peer's instances from discovery.
    package var endpoints: [PeerEndpoint]
    package var purpose: Purpose
}

/// A connection's properties after the TLS handshake.
package struct LinkFacts: Sendable, Equatable {
    /// The TLS exporter value: 32 bytes for label `EXPORTER-cw-peers/1`, without a context value (RFC 8446 §7.5).
    package var exporter: [UInt8]
    /// The SHA-256 digest (32 bytes) of the `SubjectPublicKeyInfo` in the peer's TLS certificate.
    package var fingerprint: [UInt8]
    /// The remote address, 4 or 16 bytes, without scope.
    package var address: [UInt8]
    /// Whether the peer is on this host. Such links are exempt from the limits per address.
    package var isLocal: Bool

    package init(exporter: [UInt8], fingerprint: [UInt8], address: [UInt8] = [], isLocal: Bool = false) {
        (self.exporter, self.fingerprint, self.address, self.isLocal) = (exporter, fingerprint, address, isLocal)
    }
}

/// A peer's certificates, shown in addition to its TLS key.
package struct CertificateClaim: Sendable, Equatable {
    /// The certificate chain in DER, leaf first. It is empty if the peer's session has no certificate.
    package var chain: [[UInt8]]
    /// The leaf key's signature over ``message``. The code that performs ``PeerAction/judge(_:_:)`` must verify the
    /// signature before it evaluates the chain.
    package var proof: [UInt8]
    package var message: [UInt8]
}

/// How a connection ended.
package enum LinkEnd: Sendable, Equatable {
    /// The peer closed or reset the connection.
    case closedByPeer
    /// A local error, such as a network change or a kernel timeout.
    case failed
}

package struct SessionOptions: Sendable, Equatable {
    /// The maximum number of peers, including this peer: 2 to 32.
    package var limit = 8
    /// Whether the program judges each member (``PeerAction/judge(_:_:)``). Otherwise every verified key is accepted.
    package var judges = false
    /// Whether the session shows a certificate chain (``PeerAction/sign(_:_:)``).
    package var hasCertificate = false

    package init() {}
}

package enum SendResult: Sendable, Equatable {
    case queued
    /// The member's queue is at its limit. ``PeerAction/space(_:)`` follows.
    case full
    /// An unreliable message did not fit into the queue.
    case dropped
    case notConnected
    /// The message has more than 16 MiB.
    case tooLarge
}
