/// Work of the driver, and events for the program, in the order in which they must be performed.
package enum PeerAction: Sendable, Equatable {
    // Links
    /// Dial, then report ``PeerMesh/dialSucceeded(_:_:at:)`` or ``PeerMesh/dialFailed(_:at:)``.
    case dial(LinkID, PeerDial)
    /// The link has bytes to write: call ``PeerMesh/takeOutput(_:atMost:at:)`` whenever the connection accepts content, until it returns `nil`.
    case output(LinkID)
    /// Close the connection after the bytes that ``PeerMesh/takeOutput(_:atMost:at:)`` has returned, or cancel the dial. The machine has
    /// forgotten the number.
    case close(LinkID)

    // Invitations
    /// Ask the program, then call ``PeerMesh/answer(_:with:at:)``.
    case invited(InvitationID, PeerInfo, context: [UInt8]?)
    /// The invitation needs no answer any more.
    case invitationEnded(InvitationID, PeerReason)

    // Trust
    /// The key of a member is new, or the member became paired. Keep the entry for ``PeerMesh/trust(_:)``.
    case pinned(MemberID, PinEntry)
    /// The entry of a key gave way to another one.
    case unpinned(PeerKey)
    /// The links of a peer with a proven key are refused by the policy, or its proof of a pairing is wrong.
    case refused(PeerInfo, PeerReason)
    /// Sign the message with the session's own certificate, then call ``PeerMesh/certify(_:chain:proof:at:)`` with the link. Only for sessions with
    /// ``SessionOptions/hasCertificate``.
    case sign(LinkID, MemberID, [UInt8])
    /// Ask the program about the peer, then call ``PeerMesh/judge(_:accepts:at:)``. Only for sessions with ``SessionOptions/judges``.
    case judge(MemberID, CertificateClaim)
    /// Progress of comparing codes.
    case verification(MemberID, VerificationEvent)

    // Members
    case state(MemberID, PeerInfo, MemberState)
    case message(MemberID, [UInt8], isReliable: Bool)
    /// A send returned ``SendResult/full``, and now less than half of the limit is queued.
    case space(MemberID)

    // Datagram lanes
    /// Wait for a DTLS 1.2 handshake with the key on any UDP port, then call ``PeerMesh/datagramsListening(_:on:at:)`` and
    /// ``PeerMesh/datagramsReady(_:limit:at:)``. The peer is at the other end of the link.
    case listenDatagrams(DatagramLaneID, beside: LinkID, DatagramSecret)
    /// Make a DTLS 1.2 connection to the port of the host at the other end of the link, then call ``PeerMesh/datagramsReady(_:limit:at:)``.
    case dialDatagrams(DatagramLaneID, beside: LinkID, port: UInt16, DatagramSecret)
    /// Send the datagram, then call ``PeerMesh/datagramSent(_:_:at:)``.
    case datagram(DatagramLaneID, [UInt8])
    /// Close the port or connection. The machine has forgotten the number.
    case closeDatagrams(DatagramLaneID)
    /// For diagnosis.
    case datagramLane(MemberID, DatagramLaneState)

    // Streams
    case streamOpened(ChannelID, name: String)
    case streamBytes(ChannelID, [UInt8])
    /// The last event of a stream that ended well, for both sides.
    case streamEnded(ChannelID)
    /// The last event of a stream that was reset, or whose member was lost.
    case streamFailed(ChannelID, PeerReason)
    /// The stream accepts this number of bytes, after it accepted fewer than it was given.
    case streamSpace(ChannelID, Int)

    // Resources
    /// Prepare a file, then call ``PeerMesh/fetch(_:from:at:)`` or ``PeerMesh/cancelResource(_:at:)``.
    case resourceOffered(ChannelID, ResourceOffer)
    /// Read the file, then call ``PeerMesh/provide(_:_:isLast:at:)``. At most one is open per resource.
    case resourceWanted(ChannelID, offset: UInt64, count: Int)
    /// Write the bytes at the offset, then call ``PeerMesh/consumedResource(_:_:at:)``.
    case resourceBytes(ChannelID, offset: UInt64, [UInt8])
    /// All bytes arrived. Check the digest if there is one, store the file, then call ``PeerMesh/stored(_:at:)``.
    case resourceComplete(ChannelID, digest: [UInt8]?)
    /// The receiver stored everything. The sender's last event.
    case resourceDelivered(ChannelID)
    /// The last event of a resource that was cancelled or lost, on both sides.
    case resourceFailed(ChannelID, PeerReason)
}

/// A connection that the driver makes: TLS 1.3, ALPN `cw-peers/1`, certificates on both sides.
package struct PeerDial: Sendable, Equatable {
    package enum Purpose: Sendable, Equatable { case invitation, introduction, resumption, lane }

    package var peer: PeerKey
    /// Known addresses, best first. Try also the instances that discovery knows for the peer.
    package var endpoints: [PeerEndpoint]
    package var purpose: Purpose
}

/// Properties of a connection when TLS is established.
package struct LinkFacts: Sendable, Equatable {
    /// 32 bytes for the label `EXPORTER-cw-peers/1` without context (RFC 8446 §7.5).
    package var exporter: [UInt8]
    /// SHA-256 of the `SubjectPublicKeyInfo` of the certificate that the peer used in TLS: 32 bytes.
    package var fingerprint: [UInt8]
    /// The remote address, 4 or 16 bytes, without scope.
    package var address: [UInt8]
    /// Whether the peer is on this host. Such links are exempt from the limits per address.
    package var isLocal: Bool

    package init(exporter: [UInt8], fingerprint: [UInt8], address: [UInt8] = [], isLocal: Bool = false) {
        (self.exporter, self.fingerprint, self.address, self.isLocal) = (exporter, fingerprint, address, isLocal)
    }
}

/// Certificates that a peer shows besides its TLS key.
package struct CertificateClaim: Sendable, Equatable {
    /// DER, leaf first. Empty if the peer's session has none.
    package var chain: [[UInt8]]
    /// Signature of ``message`` by the leaf's key. The driver must verify it before the chain means anything.
    package var proof: [UInt8]
    package var message: [UInt8]
}

/// How a connection ended.
package enum LinkEnd: Sendable, Equatable {
    /// The peer closed or reset it.
    case closedByPeer
    /// A local error: the network changed, a timeout of the kernel.
    case failed
}

package struct SessionOptions: Sendable, Equatable {
    /// The maximum number of peers, including this one.
    package var limit = 8
    /// Whether each member is judged by the program (``PeerAction/judge(_:_:)``). Otherwise every verified key is accepted.
    package var judges = false
    /// Whether the session shows a certificate chain (``PeerAction/sign(_:_:)``).
    package var hasCertificate = false

    package init() {}
}

package enum SendResult: Sendable, Equatable {
    case queued
    /// The queue of the member is over its limit. ``PeerAction/space(_:)`` follows.
    case full
    /// An unreliable message found no room.
    case dropped
    case notConnected
    /// More than 16 MiB.
    case tooLarge
}
