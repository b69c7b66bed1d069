internal import Causeway
internal import CausewayPeers
internal import CausewaySystem
public import Foundation

/// A group of connected peers that exchange messages, resources and streams.
///
/// Peers join by invitation (``MCNearbyServiceBrowser``, ``MCNearbyServiceAdvertiser``) or with data that the program
/// exchanges (``nearbyConnectionData(forPeer:withCompletionHandler:)``). All peers are connected with each other (full
/// mesh). All connections are encrypted with TLS 1.3.
///
/// All methods may be called on any thread and do not block. The delegate is called on a private serial queue. When the
/// session object is released, it leaves the group.
///
/// Counterpart: `MCSession`, macOS 10.10, iOS 7.
@preconcurrency open class MCSession: NSObject {
    private(set) var core: SessionCore
    private let peer: MCPeerID
    private let identity: [Any]?
    private let preference: MCEncryptionPreference

    /// Creates a session without certificates, with required encryption.
    public convenience init(peer myPeerID: MCPeerID) {
        self.init(peer: myPeerID, securityIdentity: nil, encryptionPreference: .required)
    }

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - myPeerID: The local peer.
    ///   - identity: A `SecIdentity` followed by its issuers as `SecCertificate` values, for the other peers' delegates
    ///     to judge; `nil` for none.
    ///   - encryptionPreference: Only stored; the session is always encrypted.
    /// - Precondition: The first value of `identity` is a `SecIdentity` and the others are `SecCertificate` values.
    public init(
        peer myPeerID: MCPeerID, securityIdentity identity: [Any]?, encryptionPreference: MCEncryptionPreference
    ) {
        peer = myPeerID
        self.identity = identity
        preference = encryptionPreference
        core = SessionCore(peer: myPeerID.peer, Self.settings(identity ?? []))
        super.init()
        core.attach(self)
    }

    /// Replaces the implementation, for tests. An initializer for tests would have to be non-public. Subclasses in
    /// other modules would then inherit no convenience initializer.
    func use(_ core: SessionCore) {
        self.core = core
        core.attach(self)
    }

    deinit { core.leave(reporting: false) }

    private static func settings(_ identity: [Any]) -> PeerGroup.Settings {
        var settings = PeerGroup.Settings()
        settings.limit = kMCSessionMaximumNumberOfPeers
        settings.judgesCertificates = true
        guard let first = identity.first else { return settings }
        let issuers = identity.dropFirst().compactMap { $0 as? SecCertificate }
        guard let own = first as? SecIdentity, issuers.count == identity.count - 1 else {
            Misuse.stop("MCSession: securityIdentity must be a SecIdentity followed by SecCertificate values")
        }
        (settings.identity, settings.issuers) = (own, issuers)
        return settings
    }

    /// The delegate, which receives all events. It is not retained.
    open var delegate: (any MCSessionDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The local peer.
    open var myPeerID: MCPeerID { peer }
    /// The identity and certificates passed to the initializer.
    open var securityIdentity: [Any]? { identity }
    /// The preference passed to the initializer. The session is always encrypted.
    open var encryptionPreference: MCEncryptionPreference { preference }

    /// The currently connected peers without the local peer, in the order in which they connected.
    open var connectedPeers: [MCPeerID] { core.connectedPeers }

    /// Queues a message for peers.
    ///
    /// Reliable messages from one sender arrive in call order. At most 64 MiB are queued per peer.
    ///
    /// - Parameters:
    ///   - data: The message, at most 16 MiB.
    ///   - peerIDs: Connected peers.
    ///   - mode: Whether the message may be lost.
    /// - Throws: ``MCError`` with `notConnected` if a peer is not connected, `invalidParameter` if there is no peer or
    ///   the message is too long, or `unavailable` if a peer's queue is full. The message is then sent to no peer.
    open func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
        try core.send(data, to: peerIDs.map(\.peer), mode)
    }

    /// Sends a file or a URL's content to a peer.
    ///
    /// - Parameters:
    ///   - resourceURL: A URL with the scheme `file`, `http` or `https`.
    ///   - resourceName: The name for the receiver.
    ///   - peerID: A connected peer.
    ///   - completionHandler: Called once, on the session's queue: with `nil` when the receiver has stored the whole
    ///     content, or with an ``MCError``.
    /// - Returns: The progress, which can also cancel the transfer; `nil` if the transfer cannot start.
    @discardableResult
    open func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
    ) -> Progress? {
        let handler = Unchecked(completionHandler)
        return core.sendResource(at: resourceURL, name: resourceName, to: peerID.peer) { handler.value?($0) }
    }

    /// Opens a byte stream to a peer.
    ///
    /// - Parameters:
    ///   - streamName: The name for the receiver. Streams may have equal names.
    ///   - peerID: A connected peer.
    /// - Returns: A stream to schedule in a run loop and to open. Close it to end the stream. If the peer is lost, the
    ///   stream fails.
    /// - Throws: ``MCError`` with `notConnected`, with `invalidParameter` for a name over 255 bytes, or with
    ///   `unavailable` if 256 streams to the peer are open. A stream that has ended counts until the receiver has
    ///   closed it.
    open func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws -> OutputStream {
        try core.openStream(streamName, to: peerID.peer)
    }

    /// Leaves the session. For each peer, the delegate receives the state `notConnected`. It receives no other event
    /// until the session is used again: the session object can join peers again after this call.
    open func disconnect() { core.leave(reporting: true) }
}
