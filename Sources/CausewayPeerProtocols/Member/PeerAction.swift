/// An action of the peer protocol. The network code performs some actions; others are events for the program. All are
/// handled in order.
package enum PeerAction: Sendable, Equatable {
    // Links
    /// Dial, then report ``PeerMesh/dialSucceeded(_:_:at:)`` or ``PeerMesh/dialFailed(_:at:)``.
    case dial(LinkID, PeerDial)
    /// The link has output: call ``PeerMesh/takeOutput(_:atMost:at:)`` whenever the connection accepts content, until it returns `nil`.
    case output(LinkID)
    /// Send the remaining bytes from ``PeerMesh/takeOutput(_:atMost:at:)``, and then close the connection. If the link
    /// is still being dialled, cancel the dial. The link's number is no longer valid.
    case close(LinkID)

    // Invitations
    /// Ask the program, then call ``PeerMesh/answer(_:with:at:)``.
    case invited(InvitationID, PeerInfo, context: [UInt8]?)
    /// The invitation has ended and no longer needs an answer.
    case invitationEnded(InvitationID, PeerReason)

    // Trust
    /// A member's key is new, or the member became paired. Store the entry for ``PeerMesh/trust(_:)``.
    case pinned(MemberID, PinEntry)
    /// The key's entry was evicted to make space for another key. Remove the stored entry.
    case unpinned(PeerKey)
    /// A peer proved its key, but is refused. Either the policy refuses the peer, or the peer's pairing proof is wrong.
    case refused(PeerInfo, PeerReason)
    /// Sign the message with the key of the session's certificate. Then call ``PeerMesh/certify(_:chain:proof:at:)``.
    ///
    /// This action occurs only in sessions with ``SessionOptions/hasCertificate``.
    case sign(LinkID, MemberID, [UInt8])
    /// Ask the program whether to accept the peer. Then call ``PeerMesh/judge(_:accepts:at:)`` with the program's
    /// decision.
    ///
    /// This action occurs only in sessions with ``SessionOptions/judges``.
    case judge(MemberID, CertificateClaim)
    /// The comparison of codes with a member has reached its next step.
    case verification(MemberID, VerificationEvent)

    // Events about members
    case state(MemberID, PeerInfo, MemberState)
    case message(MemberID, [UInt8], isReliable: Bool)
    /// An earlier send returned ``SendResult/full``. Now less than 4 MiB are queued (``PeerLimits/window``).
    case space(MemberID)

    // Datagram lanes
    /// Open any free UDP port, on which the link's peer begins a DTLS 1.2 handshake with this secret. Call
    /// ``PeerMesh/datagramsListening(_:on:at:)`` when the port is open, and ``PeerMesh/datagramsReady(_:limit:at:)``
    /// after the handshake.
    case listenDatagrams(DatagramLaneID, beside: LinkID, DatagramSecret)
    /// Connect with DTLS 1.2 to the given port of the host at the link's remote end. Then call
    /// ``PeerMesh/datagramsReady(_:limit:at:)``.
    case dialDatagrams(DatagramLaneID, beside: LinkID, port: UInt16, DatagramSecret)
    /// Send the datagram, then call ``PeerMesh/datagramSent(_:_:at:)``.
    case datagram(DatagramLaneID, [UInt8])
    /// Close the port or the DTLS connection for unreliable messages. Its number is no longer valid.
    case closeDatagrams(DatagramLaneID)
    /// The DTLS connection for a member's unreliable messages changed its state. This event is for diagnosis.
    case datagramLane(MemberID, DatagramLaneState)

    // Actions for streams
    case streamOpened(ChannelID, name: String)
    case streamBytes(ChannelID, [UInt8])
    /// The stream ended cleanly. This is the stream's final event, on both sides. The receiver then calls
    /// ``PeerMesh/releaseStream(_:at:)``.
    case streamEnded(ChannelID)
    /// The stream was reset, or its member was lost. This is the stream's final event. The receiver of a stream that
    /// was reset then calls ``PeerMesh/releaseStream(_:at:)``.
    case streamFailed(ChannelID, PeerReason)
    /// The stream has space again, after it had accepted only a part of an earlier write. The number states how many
    /// bytes it accepts now.
    case streamSpace(ChannelID, Int)

    // Resources
    /// Prepare a file, then call ``PeerMesh/fetch(_:from:at:)`` or ``PeerMesh/cancelResource(_:_:at:)``.
    case resourceOffered(ChannelID, ResourceOffer)
    /// Read the file, then call ``PeerMesh/provide(_:_:isLast:digest:at:)``. At most one read is pending per resource.
    case resourceWanted(ChannelID, offset: UInt64, count: Int)
    /// Write the bytes to the file at the given offset, then call ``PeerMesh/consumedResource(_:_:at:)``.
    case resourceBytes(ChannelID, offset: UInt64, [UInt8])
    /// All bytes have arrived. If there is a digest, check it. Then store the file, and call
    /// ``PeerMesh/stored(_:at:)``. When the program has received the file, call ``PeerMesh/resourceTaken(_:at:)``.
    case resourceComplete(ChannelID, digest: [UInt8]?)
    /// The receiver has stored the whole file. The sender gets no further event for this resource.
    case resourceDelivered(ChannelID)
    /// The resource was cancelled or lost. No further event follows for this resource. When the program has got the
    /// event, the receiver of a cancelled resource calls ``PeerMesh/resourceTaken(_:at:)``.
    case resourceFailed(ChannelID, PeerReason)
}

/// A connection to open to a peer. It uses TLS 1.3 with the ALPN protocol `cw-peers/1`. Both sides send certificates.
package struct PeerDial: Sendable, Equatable {
    package enum Purpose: Sendable, Equatable { case invitation, introduction, resumption, lane }

    package var peer: PeerKey
    /// Known addresses, best first. Also try the peer's instances from discovery.
    package var endpoints: [PeerEndpoint]
    package var purpose: Purpose
}

/// A connection's properties after the TLS handshake.
package struct LinkFacts: Sendable, Equatable {
    /// The TLS exporter value: 32 bytes for the label `EXPORTER-cw-peers/1`, without a context value (RFC 8446 §7.5).
    package var exporter: [UInt8]
    /// The SHA-256 digest (32 bytes) of the `SubjectPublicKeyInfo` in the peer's TLS certificate.
    package var fingerprint: [UInt8]
    /// The remote address, 4 or 16 bytes, without scope.
    package var address: [UInt8]
    /// Whether the peer runs on this host. The limits per address do not apply to such a link.
    package var isLocal: Bool

    package init(exporter: [UInt8], fingerprint: [UInt8], address: [UInt8] = [], isLocal: Bool = false) {
        (self.exporter, self.fingerprint, self.address, self.isLocal) = (exporter, fingerprint, address, isLocal)
    }
}

/// The certificates that a peer presents in addition to its TLS key.
package struct CertificateClaim: Sendable, Equatable {
    /// The certificate chain in DER, leaf first. It is empty if the peer's session has no certificate.
    package var chain: [[UInt8]]
    /// A signature over ``message`` that was made with the leaf certificate's key. The code that performs
    /// ``PeerAction/judge(_:_:)`` must verify it before it evaluates the chain.
    package var proof: [UInt8]
    package var message: [UInt8]
}

/// How a connection ended.
package enum LinkEnd: Sendable, Equatable {
    /// The peer closed or reset the connection.
    case closedByPeer
    /// The connection failed because of a local error, such as a network change or a kernel timeout.
    case failed
}

package struct SessionOptions: Sendable, Equatable {
    /// The maximum number of peers, including this peer: 2 to 32.
    package var limit = 8
    /// Whether the program decides about each new member (``PeerAction/judge(_:_:)``). If `false`, every verified key
    /// is accepted.
    package var judges = false
    /// Whether this host sends a certificate chain to the session's peers (``PeerAction/sign(_:_:)``).
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
