internal import CausewaySystem
package import FoundationEssentials

/// The negotiated parameters of a TLS handshake, as the TLS engine reports them.
package struct SecProtocolMetadataValues: Sendable {
    package var applicationProtocol: String?
    package var serverName: String?
    package var version: tls_protocol_version_t?
    package var cipherSuite: tls_ciphersuite_t?
    /// The number of the key exchange group (RFC 8446 §4.2.7).
    package var group: UInt16?
    package var isEarlyDataAccepted = false
    package var peer = Peer()
    package var signatureAlgorithms: [UInt16] = []
    /// The issuers that the server accepts, in DER.
    package var distinguishedNames: [Data] = []
    package var preSharedKeys: [SecProtocolOptionValues.PreSharedKey] = []
    /// Derives key material from the session (RFC 5705 §4, RFC 8446 §7.5). Arguments: label, exporter context, and
    /// number of bytes.
    package var export: (@Sendable (Data, Data?, Int) -> Data?)?
    /// The DTLS datagram limits: maximum message size, and maximum overhead per message, in bytes.
    package var datagrams: (longestMessage: Int, overhead: Int)?

    package init() {}

    /// The peer's certificates and public key, and the OCSP responses that it sent in the handshake.
    package struct Peer: Sendable {
        /// The peer's certificates, leaf first.
        package var certificates: [SecCertificate] = []
        /// The peer's SubjectPublicKeyInfo in DER.
        package var publicKey: Data?
        /// The stapled OCSP responses.
        package var ocspResponses: [Data] = []
    }
}

/// The negotiated parameters of a TLS handshake, for the `sec_protocol_metadata_*` functions.
///
/// Empty until the TLS engine sets the values.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public final class sec_protocol_metadata_t: Sendable {
    private let storage: LockedValue<SecProtocolMetadataValues>
    /// The C strings that ``lend(_:)`` has returned. This object owns them.
    private let lent = LockedValue<[String: BorrowedString]>([:])

    package init(_ values: SecProtocolMetadataValues = SecProtocolMetadataValues()) {
        storage = LockedValue(values)
    }

    package var values: SecProtocolMetadataValues { storage.withLock { $0 } }

    package func update(_ body: @Sendable (inout SecProtocolMetadataValues) -> Void) {
        storage.withLock { body(&$0) }
    }

    /// Returns a C string that stays valid as long as this object exists.
    func lend(_ text: String) -> UnsafePointer<CChar> {
        let string = lent.withLock { lent in
            if let string = lent[text] { return string }
            let string = BorrowedString(text)
            lent[text] = string
            return string
        }
        return string.pointer
    }
}

/// A C string on the heap.
private final class BorrowedString: Sendable {
    private let address: UInt

    init(_ text: String) {
        address = UInt(bitPattern: text.makeCString())
    }

    // `address` is never 0, so the pointer is never `nil`: `makeCString()` allocates memory even for an empty string.
    var pointer: UnsafePointer<CChar> { UnsafePointer(bitPattern: address)! }

    deinit { UnsafePointer<CChar>(bitPattern: address)?.deallocate() }
}

extension String {
    /// Returns a copy of the string with a terminating zero byte. The caller may release the copy with `free`, because
    /// Swift uses `malloc` for memory of normal alignment.
    func makeCString() -> UnsafePointer<CChar> {
        let bytes = utf8CString
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        return UnsafePointer(copy.baseAddress!)
    }
}
