/// A Certificate message of a handshake (RFC 8446 §4.4.2, RFC 5246 §7.4.2), looked at before the library decodes it.
///
/// The library decodes every certificate and its key as soon as the message is complete. Nothing limits how many there are but the length of
/// the message, and one key on a curve that the certificate itself defines takes a tenth of a second.
enum CertificateMessage {
    /// The number of the message in the handshake protocol.
    static let type: UInt8 = 11

    /// Why the message must not be decoded; `nil` if it may be.
    ///
    /// - Parameters:
    ///   - body: The message behind its header.
    ///   - hasContext: Whether it has the form of TLS 1.3, in which a context comes first and each certificate has extensions.
    static func objection(to body: UnsafeRawBufferPointer, hasContext: Bool) -> TrustFailure? {
        if count(in: body, hasContext: hasContext) > PeerTrust.maximumCertificates {
            return TrustFailure(.tooComplex, detail: "more than \(PeerTrust.maximumCertificates) certificates")
        }
        return definesCurve(body)
            ? TrustFailure(.weakKey, detail: "a key of the kind EC whose curve is written out") : nil
    }

    /// How many certificates there are. A message that is malformed counts as far as it can be read.
    private static func count(in body: UnsafeRawBufferPointer, hasContext: Bool) -> Int {
        var offset = hasContext ? 1 + Int(body.first ?? 0) : 0
        // The length of the list, which is the rest of the message.
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

    /// Object identifiers of finite fields (ANSI X9.62): 1.2.840.10045.1. Only the definition of a curve names one.
    private static let field: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x01]

    /// Whether a curve is written out in what is or contains certificates.
    static func definesCurve(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= field.count else { return false }
        for start in 0...(bytes.count - field.count) where bytes[start] == field[0] && bytes[start + 1] == field[1] {
            if bytes[start..<(start + field.count)].elementsEqual(field) { return true }
        }
        return false
    }
}
