internal import Foundation
internal import Network

/// A peer's TXT record: `_cw` version, `_id` number, `_k` key digest, `_n` display name, then the program's pairs.
struct PeerAnnouncement: Equatable, Sendable {
    static let version = "1.0"
    /// Protocol keys. The program's pairs with these keys are left out.
    private static let ownKeys: Set<String> = ["_cw", "_id", "_k", "_n"]

    let peer: PeerIdentity
    let info: [String: String]

    init(_ peer: PeerIdentity, _ info: [String: String]) {
        self.peer = peer
        self.info = info
    }

    /// Parses a record. Returns `nil` unless it is a peer's record with a version that starts with 1.
    init?(_ record: NWTXTRecord) {
        let pairs = record.dictionary
        guard let version = pairs["_cw"], version.split(separator: ".").first == "1",
            let number = pairs["_id"].flatMap(Self.bytes), number.count == 8,
            let digest = pairs["_k"].flatMap(Self.bytes), digest.count == 16
        else { return nil }
        let id = number.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let name = String(decoding: (pairs["_n"] ?? "").utf8.prefix(255), as: UTF8.self)
        peer = PeerIdentity(id: id, fingerprint: digest, name: name)
        info = pairs.filter { !Self.ownKeys.contains($0.key.lowercased()) }
    }

    /// The record. Display names longer than an entry are truncated at a character.
    var record: NWTXTRecord {
        let number = (0..<8).map { UInt8(truncatingIfNeeded: peer.id >> (56 - 8 * $0)) }
        var record = NWTXTRecord([
            "_cw": Self.version, "_id": Self.text(number), "_k": Self.text(peer.fingerprint), "_n": peer.name,
        ])
        for (key, value) in info.sorted(by: { $0.key < $1.key }) where !Self.ownKeys.contains(key.lowercased()) {
            record[key] = value
        }
        return record
    }

    /// The instance name: 16 base 32 digits (RFC 4648 §6) of the key digest. It does not reveal the display name.
    var instance: String {
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567")
        var (result, value, bitCount) = ("", UInt32(0), 0)
        for byte in peer.fingerprint.prefix(10) {
            value = value << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                result.append(digits[Int(value >> UInt32(bitCount)) & 31])
            }
        }
        return result
    }

    /// Base 64 with the URL alphabet and without padding (RFC 4648 §5).
    private static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= 24 else { return nil }
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard + padding).map { [UInt8]($0) }
    }
}
