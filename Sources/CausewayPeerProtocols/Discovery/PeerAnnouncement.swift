package import CausewayTypes

/// A peer's TXT record: `_cw` version, `_id` number, `_k` key digest, `_n` display name, then the program's key-value
/// pairs.
package struct PeerAnnouncement: Equatable, Sendable {
    static let version = "1.0"
    /// The protocol's own keys. If a program's key-value pair has one of these keys, the pair is left out.
    private static let ownKeys: Set<String> = ["_cw", "_id", "_k", "_n"]
    /// Maximum size of a display name in bytes: a TXT string has at most 255, including `_n=` (RFC 6763 §6.1).
    private static let nameByteCount = 252
    /// Maximum number of characters in an encoded peer ID or key digest. Longer text is refused without decoding.
    private static let digitCount = 24

    /// The key and the display name. The peer chose both; TLS proves the key later.
    package let peer: PeerInfo
    /// The program's key-value pairs.
    package let info: [String: String]

    package init(_ peer: PeerInfo, _ info: [String: String]) {
        self.peer = PeerInfo(key: peer.key, name: Self.prefix(of: peer.name))
        self.info = info.filter { !Self.ownKeys.contains($0.key.lowercased()) }
    }

    /// Parses a record. Returns `nil` unless it is a peer's record with major version 1.
    package init?(_ record: NWTXTRecord) {
        guard let version = record["_cw"], version == "1" || version.hasPrefix("1."),
            let number = Self.bytes(record["_id"]), number.count == 8,
            let digest = Self.bytes(record["_k"]), digest.count == 16
        else { return nil }
        let key = PeerKey(
            id: number.bigEndianInteger, high: digest[0..<8].bigEndianInteger, low: digest[8..<16].bigEndianInteger)
        self.init(PeerInfo(key: key, name: record["_n"] ?? ""), record.dictionary)
    }

    /// The TXT record. Key-value pairs that do not fit are left out.
    package var record: NWTXTRecord {
        var record = NWTXTRecord([
            "_cw": Self.version, "_id": DigitCoding.base64URL.encode(peer.key.id.bigEndianBytes),
            "_k": DigitCoding.base64URL.encode(peer.key.digestBytes), "_n": peer.name,
        ])
        for (key, value) in info.sorted(by: { $0.key < $1.key }) { record[key] = value }
        return record
    }

    /// The Bonjour instance name: the first 16 Base32 digits of the key's digest (RFC 4648 §6), in lower case. It does
    /// not reveal the display name.
    package var instance: String { DigitCoding.base32.encode(Array(peer.key.digestBytes.prefix(10))).lowercased() }

    private static func bytes(_ text: String?) -> [UInt8]? {
        text.flatMap { $0.utf8.count <= digitCount ? DigitCoding.base64URL.decode($0.utf8) : nil }
    }

    /// Returns a name with at most ``nameByteCount`` bytes. From a longer name, keeps only the first characters that
    /// fit completely.
    private static func prefix(of name: String) -> String {
        guard name.utf8.count > nameByteCount else { return name }
        var short = ""
        for character in name {
            guard short.utf8.count + character.utf8.count <= nameByteCount else { break }
            short.append(character)
        }
        return short
    }
}
