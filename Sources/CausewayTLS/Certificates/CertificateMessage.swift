/// Checks a Certificate message (RFC 8446 §4.4.2, RFC 5246 §7.4.2) before OpenSSL decodes it.
///
/// OpenSSL decodes all certificates and their keys as soon as the message is complete. Only the message length limits
/// the number of certificates, and decoding one key with explicit curve parameters takes a tenth of a second.
enum CertificateMessage {
    /// The handshake message type.
    static let type: UInt8 = 11

    /// Checks a TLS Certificate message before OpenSSL decodes it. Returns the reason to reject it; `nil` if it is
    /// acceptable.
    ///
    /// - Parameters:
    ///   - body: The message without its header.
    ///   - hasContext: Whether the message has the TLS 1.3 format. In this format, the message begins with
    ///     `certificate_request_context`, and each certificate is followed by extensions.
    static func objection(to body: UnsafeRawBufferPointer, hasContext: Bool) -> TrustFailure? {
        if count(in: body, hasContext: hasContext) > PeerTrust.maximumCertificates {
            return TrustFailure(.tooComplex, detail: "more than \(PeerTrust.maximumCertificates) certificates")
        }
        return definesCurve(body)
            ? TrustFailure(.weakKey, detail: "EC key with explicit curve parameters") : nil
    }

    /// Returns the number of certificates in the message. If the message is malformed, counts the certificates before
    /// the error.
    private static func count(in body: UnsafeRawBufferPointer, hasContext: Bool) -> Int {
        var offset = hasContext ? 1 + Int(body.first ?? 0) : 0
        // Skip the list length: the list extends to the end of the message.
        offset += 3
        var count = 0
        while offset + 3 <= body.count {
            count += 1
            offset += 3 + (Int(body[offset]) << 16 | Int(body[offset + 1]) << 8 | Int(body[offset + 2]))
            guard hasContext else { continue }
            guard offset + 2 <= body.count else { break }
            offset += 2 + (Int(body[offset]) << 8 | Int(body[offset + 1]))
        }
        return count
    }

    /// Object identifier prefix 1.2.840.10045.1 (ANSI X9.62 finite fields). Only explicit curve parameters contain it.
    private static let field: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x01]

    /// Returns whether `bytes` contain explicit curve parameters.
    static func definesCurve(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= field.count else { return false }
        for start in 0...(bytes.count - field.count) where bytes[start] == field[0] && bytes[start + 1] == field[1] {
            if bytes[start..<(start + field.count)].elementsEqual(field) { return true }
        }
        return false
    }
}
