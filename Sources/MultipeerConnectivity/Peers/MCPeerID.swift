internal import Causeway
internal import CausewayPeers
internal import CausewaySystem
public import Foundation

/// A peer: a random number that identifies it, and a display name.
///
/// Each ``init(displayName:)`` call creates a different peer, even if the name is the same. To be the same peer in the
/// program's next run, archive the object with `NSKeyedArchiver`. Two objects are equal if they represent the same
/// peer, so they can be dictionary keys. Objects for remote peers come from a browser, an advertiser, a session or an
/// archive.
///
/// The object is immutable and may be used on any thread.
///
/// Counterpart: `MCPeerID`, macOS 10.10, iOS 7.
@preconcurrency open class MCPeerID: NSObject, NSSecureCoding, NSCopying {
    let peer: PeerIdentity

    /// Creates a new peer.
    ///
    /// - Parameter myDisplayName: The name shown to other users.
    /// - Precondition: The name has 1 to 63 UTF-8 bytes.
    public init(displayName myDisplayName: String) {
        guard Self.isValid(myDisplayName) else {
            Misuse.stop(
                "MCPeerID: the display name must have 1 to 63 bytes in UTF-8, it has \(myDisplayName.utf8.count)")
        }
        peer = PeerIdentity(id: UInt64.random(in: 1 ... .max), fingerprint: [], name: myDisplayName)
        super.init()
    }

    /// Creates an object for a peer reported by the engine.
    init(_ peer: PeerIdentity) {
        self.peer = peer
        super.init()
    }

    /// Decodes a peer that is equal to the archived one. Returns `nil` for malformed content.
    public required init?(coder: NSCoder) {
        guard let peer = PeerArchive(coder)?.peer else { return nil }
        self.peer = peer
        super.init()
        // An archive without a key digest was created by the peer itself, in its own process. If an earlier run of this
        // program created it, the peer's key is in a file.
        if peer.fingerprint.isEmpty { LocalPeers.shared.archived(peer) }
    }

    /// Encodes the peer's number and name, and a remote peer's key digest. The key of a local peer is stored, so that
    /// it is the same in later runs.
    open func encode(with coder: NSCoder) {
        PeerArchive(peer: peer).encode(with: coder)
        if peer.fingerprint.isEmpty { LocalPeers.shared.archived(peer) }
    }

    /// `true`: the class supports secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Returns class names to store in an archive, for decoding in a program whose module has another name.
    open override class func classFallbacksForKeyedArchiver() -> [String] {
        PeerArchive.registerNames()
        return [PeerArchive.className, NSStringFromClass(MCPeerID.self)]
    }

    /// The name shown to other users.
    open var displayName: String { peer.name }

    /// Returns the object itself, because it is immutable.
    open override func copy() -> Any { self }

    /// Returns the object itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both objects represent the same peer. Names are not compared.
    open override func isEqual(_ object: Any?) -> Bool { (object as? MCPeerID)?.peer.id == peer.id }

    /// A hash of the peer's number.
    open override var hash: Int { Int(truncatingIfNeeded: peer.id) }

    /// The class name, an address, and the display name.
    open override var description: String {
        let address = String(UInt(bitPattern: ObjectIdentifier(self).hashValue), radix: 16)
        return "<MCPeerID: 0x\(address) DisplayName = \(displayName)>"
    }

    static func isValid(_ name: String) -> Bool { (1...63).contains(name.utf8.count) }
}
