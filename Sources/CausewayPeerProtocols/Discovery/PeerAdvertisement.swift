/// An advertised peer's TXT record.
package struct PeerAdvertisement: Equatable, Sendable {
    package var peer: PeerInfo
    /// The program's pairs. Keys that begin with `_` belong to the protocol.
    package var info: [String: String]

    package init(peer: PeerInfo, info: [String: String]) { (self.peer, self.info) = (peer, info) }

    /// The record's pairs: `_cw` version, `_id` and `_k` in URL-safe Base64 (RFC 4648 §5), `_n` name, then the program's pairs that fit.
    package var pairs: [(key: String, value: String)] {
        var pairs = [
            ("_cw", "1.0"), ("_id", DigitCoding.base64URL.encode(peer.key.id.bigEndianBytes)),
            ("_k", DigitCoding.base64URL.encode(peer.key.digestBytes)),
        ]
        // A TXT string has at most 255 bytes, including `_n=`.
        pairs.append(("_n", Self.prefix(of: peer.name, byteCount: 252)))
        for (key, value) in info.sorted(by: { $0.key < $1.key }) where Self.isAllowed(key, value) {
            pairs.append((key, value))
        }
        return pairs.map { (key: $0.0, value: $0.1) }
    }

    /// Decodes a record. Returns `nil` for other protocols and for later major versions.
    package init?(_ pairs: some Sequence<(key: String, value: String)>) {
        var found: [String: String] = [:]
        var info: [String: String] = [:]
        for (key, value) in pairs {
            // Of equal keys, the first counts (RFC 6763 §6.4).
            if key.hasPrefix("_") {
                if found[key.lowercased()] == nil { found[key.lowercased()] = value }
            } else if info[key] == nil {
                info[key] = value
            }
        }
        guard let version = found["_cw"], version.utf8.elementsEqual("1".utf8) || version.hasPrefix("1.") else {
            return nil
        }
        guard let id = Self.bytes(of: found["_id"]), id.count == 8 else { return nil }
        guard let digest = Self.bytes(of: found["_k"]), digest.count == 16 else { return nil }
        let key = PeerKey(
            id: id.bigEndianInteger, high: digest[0..<8].bigEndianInteger, low: digest[8..<16].bigEndianInteger)
        let name = Self.prefix(of: found["_n"] ?? "", byteCount: PeerLimits.name)
        self.init(peer: PeerInfo(key: key, name: name), info: info)
    }

    /// The instance name: the key digest's first 80 bits as 16 lower-case Base32 digits (RFC 4648 §6).
    package var instanceName: String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
        return String((0..<16).map { alphabet[Int(truncatingIfNeeded: bits(at: $0 * 5))] })
    }

    /// Returns the five digest bits at a bit offset.
    private func bits(at offset: Int) -> UInt64 {
        let (high, low) = (peer.key.high, peer.key.low)
        let shifted =
            offset < 64
            ? high << UInt64(offset) | (offset == 0 ? 0 : low >> UInt64(64 - offset)) : low << UInt64(offset - 64)
        return shifted >> 59
    }

    /// Decodes a digest or number. Text over 64 bytes is refused without decoding.
    private static func bytes(of text: String?) -> [UInt8]? {
        text.flatMap { $0.utf8.count <= 64 ? DigitCoding.base64URL.decode($0.utf8) : nil }
    }

    /// Whether a pair is valid in a TXT string (RFC 6763 §6).
    private static func isAllowed(_ key: String, _ value: String) -> Bool {
        !key.isEmpty && !key.hasPrefix("_")
            && key.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
            && key.utf8.count + value.utf8.count + 1 <= 255
    }

    private static func prefix(of text: String, byteCount: Int) -> String {
        guard text.utf8.count > byteCount else { return text }
        var short = ""
        for character in text {
            guard short.utf8.count + character.utf8.count <= byteCount else { break }
            short.append(character)
        }
        return short
    }
}
