import CausewayPackets
import CausewayTLS

extension QUICInitialCipher {
    /// The OpenSSL functions that decrypt QUIC Initial packets. The library is loaded with the first such packet;
    /// without OpenSSL, these packets are not decrypted.
    static let library = QUICInitialCipher(
        authenticate: { LibraryCipher.hmacSHA256(key: $0, message: $1) },
        encryptBlock: { LibraryCipher.aes128(key: $0, block: $1) },
        open: { LibraryCipher.openAES128GCM(key: $0, nonce: $1, authenticated: $2, sealed: $3) })
}
