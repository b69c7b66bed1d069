/// A text that one user shows and the other enters or scans, so that both peers learn each other's key.
///
/// ```
/// CAUSEWAY-PEER:1/ABC-CHAT/MFRGG...
///               | |        base 32 (RFC 4648 §6) without padding: id 8 bytes, digest of the key 16, secret 16,
///               | |        expiry 5 (seconds since 1970), display name 0 to 63, check 4
///               | service type
///               version
/// ```
///
/// All characters are in the QR code alphanumeric mode, and need no escape in a URI. Letters may have either case.
package struct PairingText: Hashable, Sendable {
    /// The reason why a pairing text is refused.
    package enum Malformed: Error, Equatable, Sendable {
        /// The text has another scheme, or is not a pairing text.
        case foreign
        case version
        case service
        /// The text has invalid characters, or a wrong number of characters.
        case content
        /// The check bytes differ: a character was changed or left out.
        case check
    }

    package static let secretByteCount = 16
    /// Maximum length of a pairing text in bytes. White space before and after the text does not count.
    package static let byteCount = 256
    private static let scheme = "CAUSEWAY-PEER:"
    private static let nameLimit = 63
    private static let fixedByteCount = 45
    private static let checkByteCount = 4

    /// The service type, in lower case.
    package let service: String
    package let peer: PeerKey
    package let name: String
    /// The secret, which only the two users know.
    package let secret: [UInt8]
    /// When the text expires, in seconds since 1970; below 2^40.
    package let expires: UInt64

    /// Creates a pairing text. The name is cut to 63 bytes.
    ///
    /// Returns `nil` if the service type is invalid, if the secret does not have 16 bytes, or if the time is 2^40 or
    /// later.
    package init?(service: String, peer: PeerKey, name: String, secret: [UInt8], expires: UInt64) {
        guard Self.isService(service), secret.count == Self.secretByteCount, expires < 1 << 40 else { return nil }
        (self.service, self.peer, self.secret, self.expires) = (service.lowercased(), peer, secret, expires)
        var short = ""
        for character in name {
            guard short.utf8.count + character.utf8.count <= Self.nameLimit else { break }
            short.append(character)
        }
        self.name = short
    }

    /// Returns the time at which a pairing text expires, rounded up to a second. The peer that reads the text refuses
    /// it after this time, by its own clock.
    ///
    /// - Parameters:
    ///   - lifetime: How long the text is valid.
    ///   - time: The current time, in seconds since 1970.
    package static func expiry(of lifetime: Duration, from time: Double) -> UInt64 {
        let (seconds, attoseconds) = lifetime.components
        let end = (time + Double(seconds) + Double(attoseconds) / 1e18).rounded(.up)
        return end > 0 ? UInt64(min(end, 0x1p63)) : 0
    }

    package var text: String {
        let expiry = Array(expires.bigEndianBytes.suffix(5))
        let content = peer.id.bigEndianBytes + peer.digestBytes + secret + expiry + Array(name.utf8)
        let payload = content + Self.check(service, content)
        return "\(Self.scheme)1/\(service.uppercased())/\(DigitCoding.base32.encode(payload))"
    }

    /// Returns four digest bytes that detect typing errors. They do not protect against forgery; the secret does.
    private static func check(_ service: String, _ content: [UInt8]) -> [UInt8] {
        Array(PeerDigest.sha256(Array("cw-peers/1 text ".utf8) + Array(service.utf8) + [0] + content).prefix(4))
    }

    /// Parses a text. Surrounding white space is ignored.
    package init(_ text: String) throws(Malformed) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let trimmed = Array(text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
        guard trimmed.count <= Self.byteCount else { throw .content }
        // Convert only ASCII letters to upper case. Invalid characters are refused below.
        let bytes = trimmed.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
        guard bytes.starts(with: Self.scheme.utf8) else { throw .foreign }
        let parts = bytes.dropFirst(Self.scheme.utf8.count)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.first?.elementsEqual("1".utf8) == true else { throw .version }
        guard parts.count == 3 else { throw .content }
        let service = String(decoding: parts[1], as: UTF8.self).lowercased()
        guard Self.isService(service) else { throw .service }
        guard let payload = DigitCoding.base32.decode(parts[2]),
            payload.count >= Self.fixedByteCount + Self.checkByteCount
        else { throw .content }
        let content = Array(payload.dropLast(Self.checkByteCount))
        guard payload.suffix(Self.checkByteCount).elementsEqual(Self.check(service, content)) else { throw .check }
        guard let name = String(validating: content.dropFirst(Self.fixedByteCount), as: UTF8.self),
            let value = PairingText(
                service: service,
                peer: PeerKey(
                    id: content[0..<8].bigEndianInteger, high: content[8..<16].bigEndianInteger,
                    low: content[16..<24].bigEndianInteger),
                name: name, secret: Array(content[24..<40]), expires: content[40..<45].bigEndianInteger),
            value.name == name
        else { throw .content }
        self = value
    }

    /// Whether a service type is valid (RFC 6335 §5.1).
    private static func isService(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        let isAllowed = bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        let isSpaced = !zip(bytes, bytes.dropFirst()).contains { $0 == (0x2D, 0x2D) }
        return (1...15).contains(bytes.count) && isAllowed && isSpaced && bytes.contains(where: isLetter)
            && bytes.first != 0x2D && bytes.last != 0x2D
    }
}
