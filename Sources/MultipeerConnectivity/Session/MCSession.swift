internal import Causeway
internal import CausewayPeers
internal import CausewaySystem
public import Foundation

/// A group of peers that exchange messages, resources and streams.
///
/// Peers join by invitation (``MCNearbyServiceBrowser``, ``MCNearbyServiceAdvertiser``) or by data that the program exchanges
/// (``nearbyConnectionData(forPeer:withCompletionHandler:)``). Every peer is connected with every other one. All connections are encrypted
/// with TLS 1.3.
///
/// All methods may be called on any thread and return at once. The delegate is called on a private serial queue. A session that is
/// released leaves the group.
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
    ///   - identity: A `SecIdentity` and the `SecCertificate` values of its issuers, which the delegates of other peers judge. `nil`: none.
    ///   - encryptionPreference: Stored; the session is encrypted for every value.
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

    /// Replaces the running part, for tests. An initializer would not do: with one that is not public, subclasses of other modules inherit
    /// no convenience initializer.
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

    /// The receiver of all events. Not retained.
    open var delegate: (any MCSessionDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The local peer.
    open var myPeerID: MCPeerID { peer }
    /// The identity and the certificates that were given.
    open var securityIdentity: [Any]? { identity }
    /// The preference that was given. The session is encrypted for every value.
    open var encryptionPreference: MCEncryptionPreference { preference }

    /// The peers that are connected at present, without the local one. The order is that in which they connected.
    open var connectedPeers: [MCPeerID] { core.connectedPeers }

    /// Queues a message for peers.
    ///
    /// Reliable messages of one sender arrive in the order of the calls. At most 64 MiB wait for one peer.
    ///
    /// - Parameters:
    ///   - data: The message, at most 16 MiB.
    ///   - peerIDs: Connected peers.
    ///   - mode: Whether the message may be lost.
    /// - Throws: ``MCError`` with `notConnected` if a peer is not connected, `invalidParameter` if there is no peer or the message is too
    ///   long, or `unavailable` if 64 MiB wait for a peer.
    open func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
        try core.send(data, to: peerIDs.map(\.peer), mode)
    }

    /// Sends a file, or the content of a URL, to a peer.
    ///
    /// - Parameters:
    ///   - resourceURL: A URL with the scheme `file`, `http` or `https`.
    ///   - resourceName: The name that the receiver gets.
    ///   - peerID: A connected peer.
    ///   - completionHandler: Called once, on the queue of the session, when the receiver has the whole content, or with an ``MCError``.
    /// - Returns: The progress, which also cancels; `nil` if the transfer cannot start.
    @discardableResult
    open func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
    ) -> Progress? {
        let handler = Unchecked(completionHandler)
        return core.sendResource(at: resourceURL, name: resourceName, to: peerID.peer) { handler.value?($0) }
    }

    /// Opens a stream of bytes to a peer.
    ///
    /// - Parameters:
    ///   - streamName: The name that the receiver gets. Streams may have equal names.
    ///   - peerID: A connected peer.
    /// - Returns: A stream to schedule in a run loop and to open. Close it to end the stream; if the peer is lost, it has an error.
    /// - Throws: ``MCError`` with `notConnected`, or `unavailable` for too many streams.
    open func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws -> OutputStream {
        try core.openStream(streamName, to: peerID.peer)
    }

    /// Leaves the session. The delegate gets `notConnected` for each peer and no other call. The session may be used again.
    open func disconnect() { core.leave(reporting: true) }
}
