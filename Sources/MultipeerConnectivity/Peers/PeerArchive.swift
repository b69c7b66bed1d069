internal import CausewayPeers
internal import Foundation

/// A peer's archived form: its number (8 bytes), its name and, for a remote peer, its key digest.
struct PeerArchive {
    /// The class name in Apple's archives.
    static let className = "MCPeerID"
    private static let numberKey = "MCPeerID.number"
    private static let nameKey = "MCPeerID.displayName"
    private static let fingerprintKey = "MCPeerID.fingerprint"
    /// The digest size in bytes.
    private static let fingerprintSize = 16

    let peer: PeerIdentity

    init(peer: PeerIdentity) { self.peer = peer }

    /// Decodes a peer. Returns `nil` if a value is missing or out of range: the archive can come from another host, so
    /// its content is not trusted.
    init?(_ coder: NSCoder) {
        Self.registerNames()
        guard coder.allowsKeyedCoding,
            let number = coder.decodeObject(of: NSData.self, forKey: Self.numberKey), number.length == 8,
            let name = coder.decodeObject(of: NSString.self, forKey: Self.nameKey), MCPeerID.isValid(name as String)
        else { return nil }
        // Check that the value exists before decoding it: an attempt to decode a missing value would make the whole
        // archive fail.
        let hasFingerprint = coder.containsValue(forKey: Self.fingerprintKey)
        let fingerprint = hasFingerprint ? coder.decodeObject(of: NSData.self, forKey: Self.fingerprintKey) : nil
        guard fingerprint == nil || fingerprint?.length == Self.fingerprintSize else { return nil }
        let id = (number as Data).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        guard id != 0 else { return nil }
        peer = PeerIdentity(id: id, fingerprint: fingerprint.map { [UInt8]($0 as Data) } ?? [], name: name as String)
    }

    func encode(with coder: NSCoder) {
        let number = Data((0..<8).map { UInt8(truncatingIfNeeded: peer.id >> (56 - 8 * $0)) })
        coder.encode(number as NSData, forKey: Self.numberKey)
        coder.encode(peer.name as NSString, forKey: Self.nameKey)
        guard !peer.fingerprint.isEmpty else { return }
        coder.encode(Data(peer.fingerprint) as NSData, forKey: Self.fingerprintKey)
    }

    /// Lets `NSKeyedUnarchiver` find the class by its plain name, which Apple's archives use.
    static func registerNames() { _ = registration }

    private static let registration: Void = NSKeyedUnarchiver.setClass(MCPeerID.self, forClassName: className)
}
