internal import Causeway
internal import CausewayPeers
internal import CausewaySystem
public import Foundation

/// A peer: a random number and a display name.
///
/// Each call of ``init(displayName:)`` makes another peer, also for the same name. To be the same peer in the next run of the program,
/// archive the object with `NSKeyedArchiver`. Two objects are equal if they stand for the same peer, so they can be dictionary keys. Objects
/// of remote peers come from a browser, an advertiser, a session or an archive.
///
/// The object is immutable and may be used on any thread.
///
/// Counterpart: `MCPeerID`, macOS 10.10, iOS 7.
@preconcurrency open class MCPeerID: NSObject, NSSecureCoding, NSCopying {
    let peer: PeerIdentity

    /// Makes a new peer.
    ///
    /// - Parameter myDisplayName: The name that other users see.
    /// - Precondition: The name has 1 to 63 bytes in UTF-8.
    public init(displayName myDisplayName: String) {
        guard Self.isValid(myDisplayName) else {
            Misuse.stop(
                "MCPeerID: the display name must have 1 to 63 bytes in UTF-8, it has \(myDisplayName.utf8.count)")
        }
        peer = PeerIdentity(id: UInt64.random(in: 1 ... .max), fingerprint: [], name: myDisplayName)
        super.init()
    }

    /// A peer that the engine reported.
    init(_ peer: PeerIdentity) {
        self.peer = peer
        super.init()
    }

    /// Decodes a peer, which is equal to the archived one. Returns `nil` for malformed content.
    public required init?(coder: NSCoder) {
        guard let peer = PeerArchive(coder)?.peer else { return nil }
        self.peer = peer
        super.init()
        // The archive may be of an earlier run. Then the key of the peer is in a file.
        if peer.fingerprint.isEmpty { LocalPeers.shared.archived(peer) }
    }

    /// Writes the number and the name of the peer. A peer that this process created keeps its key from the next use on.
    open func encode(with coder: NSCoder) {
        PeerArchive(peer: peer).encode(with: coder)
        if peer.fingerprint.isEmpty { LocalPeers.shared.archived(peer) }
    }

    /// `true`: the class supports secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Names under which the class is found if the module has another name.
    open override class func classFallbacksForKeyedArchiver() -> [String] {
        PeerArchive.registerNames()
        return [PeerArchive.className, NSStringFromClass(MCPeerID.self)]
    }

    /// The name that other users see.
    open var displayName: String { peer.name }

    /// The object itself, because it is immutable.
    open override func copy() -> Any { self }

    /// The object itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both objects stand for the same peer. Names are not compared.
    open override func isEqual(_ object: Any?) -> Bool { (object as? MCPeerID)?.peer.id == peer.id }

    /// A hash of the number of the peer.
    open override var hash: Int { Int(truncatingIfNeeded: peer.id) }

    /// The class, the address of the object, and the name.
    open override var description: String {
        let address = String(UInt(bitPattern: ObjectIdentifier(self).hashValue), radix: 16)
        return "<MCPeerID: 0x\(address) DisplayName = \(displayName)>"
    }

    static func isValid(_ name: String) -> Bool { (1...63).contains(name.utf8.count) }
}
