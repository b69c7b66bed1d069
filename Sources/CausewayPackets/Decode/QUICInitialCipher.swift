/// The cryptographic functions to decrypt a QUIC connection's first packets (RFC 9001 §5).
///
/// This module contains no cipher. The caller supplies a library's functions; `nw` uses OpenSSL. A function returns
/// `nil` if it fails, for example because the library is not installed. The packets are then not decrypted.
///
/// Isolation: the functions run on the thread that prints the packet, and must not block.
public struct QUICInitialCipher: Sendable {
    /// Computes HMAC with SHA-256 (RFC 2104): 32 bytes.
    public typealias Authentication = @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]?
    /// Encrypts one 16-byte block with AES-128 (FIPS 197).
    public typealias BlockEncryption = @Sendable (_ key: [UInt8], _ block: [UInt8]) -> [UInt8]?
    /// Verifies and decrypts with AES-128-GCM (RFC 5116 §5.1); `nil` if the tag, the last 16 bytes of `sealed`, is wrong.
    public typealias Opening =
        @Sendable (
            _ key: [UInt8], _ nonce: [UInt8], _ authenticated: [UInt8], _ sealed: [UInt8]
        ) -> [UInt8]?

    let authenticate: Authentication
    let encryptBlock: BlockEncryption
    let open: Opening

    /// Creates a cipher from a library's functions.
    ///
    /// - Parameters:
    ///   - authenticate: Computes HMAC with SHA-256.
    ///   - encryptBlock: Encrypts one block with AES-128.
    ///   - open: Verifies and decrypts with AES-128-GCM.
    public init(
        authenticate: @escaping Authentication, encryptBlock: @escaping BlockEncryption, open: @escaping Opening
    ) {
        (self.authenticate, self.encryptBlock, self.open) = (authenticate, encryptBlock, open)
    }
}

/// The keys for a client's Initial packets. They are derived from a connection ID that the packet contains. So every
/// observer can compute them.
struct QUICInitialKeys: Sendable, Equatable {
    private static let salts: [UInt32: [UInt8]] = [
        // The version 1 initial salt (RFC 9001 §5.2).
        QUICPacketPlace.versionOne: [
            0x38, 0x76, 0x2C, 0xF7, 0xF5, 0x59, 0x34, 0xB3, 0x4D, 0x17, 0x9A, 0xE6, 0xA4, 0xC8, 0x0C, 0xAD, 0xCC, 0xBB,
            0x7F, 0x0A,
        ],
        // The version 2 initial salt (RFC 9369 §3.3.1).
        QUICPacketPlace.versionTwo: [
            0x0D, 0xED, 0xE3, 0xDE, 0xF7, 0x00, 0xA6, 0xDB, 0x81, 0x93, 0x81, 0xBE, 0x6E, 0x26, 0x9D, 0xCB, 0xF9, 0xBD,
            0x2E, 0xD9,
        ],
    ]
    private static let secretLength = 32
    private static let keyLength = 16
    private static let nonceLength = 12
    private static let sampleLength = 16
    private static let tagLength = 16
    private static let longestNumber = 4

    let key: [UInt8]
    let nonce: [UInt8]
    let headerKey: [UInt8]

    /// Derives the keys from the Destination Connection ID in the client's first packet; `nil` if the cipher fails.
    init?(_ identifier: [UInt8], version: UInt32, _ cipher: QUICInitialCipher) {
        let prefix = version == QUICPacketPlace.versionTwo ? "quicv2 " : "quic "
        guard let salt = Self.salts[version], let initial = cipher.authenticate(salt, identifier),
            let secret = Self.expand(initial, "client in", Self.secretLength, cipher),
            let key = Self.expand(secret, prefix + "key", Self.keyLength, cipher),
            let nonce = Self.expand(secret, prefix + "iv", Self.nonceLength, cipher),
            let headerKey = Self.expand(secret, prefix + "hp", Self.keyLength, cipher)
        else { return nil }
        (self.key, self.nonce, self.headerKey) = (key, nonce, headerKey)
    }

    /// Computes HKDF-Expand-Label (RFC 8446 §7.1). The result has at most 32 bytes, so HKDF-Expand needs only one step
    /// (RFC 5869 §2.3).
    private static func expand(
        _ secret: [UInt8], _ label: String, _ count: Int, _ cipher: QUICInitialCipher
    ) -> [UInt8]? {
        let name = Array("tls13 ".utf8) + Array(label.utf8)
        let info = [0, UInt8(count), UInt8(name.count)] + name + [0, 1]
        guard let output = cipher.authenticate(secret, info), output.count >= count else { return nil }
        return Array(output.prefix(count))
    }

    /// Removes header protection (RFC 9001 §5.4) and returns the frames (RFC 9001 §5.3); `nil` if the packet is not authentic.
    func open(_ p: borrowing ByteView, _ place: QUICPacketPlace, _ cipher: QUICInitialCipher) -> [UInt8]? {
        let sample = place.number + Self.longestNumber
        guard sample + Self.sampleLength <= place.end, p.holds(Self.sampleLength, at: sample),
            let mask = cipher.encryptBlock(headerKey, p.clamped(sample, sample + Self.sampleLength).array),
            mask.count > Self.longestNumber
        else { return nil }
        let first = p[place.start] ^ (mask[0] & 0x0F)
        let content = place.number + Int(first & 3) + 1
        guard content + Self.tagLength <= place.end else { return nil }
        var header = p.clamped(place.start, content).array
        header[0] = first
        var nonce = nonce
        // A packet header contains only the low bytes of the packet number. The first packets have small numbers, so
        // these bytes are the whole number.
        for (index, offset) in (place.number..<content).enumerated() {
            let byte = p[offset] ^ mask[1 + index]
            header[offset - place.start] = byte
            nonce[nonce.count - (content - offset)] ^= byte
        }
        return cipher.open(key, nonce, header, p.clamped(content, place.end).array)
    }
}
