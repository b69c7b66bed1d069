internal import CausewaySystem
package import FoundationEssentials

/// What a TLS handshake negotiated, in the form in which the TLS engine hands it over.
package struct SecProtocolMetadataValues: Sendable {
    package var applicationProtocol: String?
    package var serverName: String?
    package var version: tls_protocol_version_t?
    package var cipherSuite: tls_ciphersuite_t?
    /// The number of the group of the key exchange (RFC 8446 §4.2.7).
    package var group: UInt16?
    package var isEarlyDataAccepted = false
    /// Leaf first.
    package var peerCertificates: [SecCertificate] = []
    /// The peer's SubjectPublicKeyInfo, DER.
    package var peerPublicKey: Data?
    package var ocspResponses: [Data] = []
    package var signatureAlgorithms: [UInt16] = []
    /// The issuers that a server accepts, DER.
    package var distinguishedNames: [Data] = []
    package var preSharedKeys: [SecProtocolOptionValues.PreSharedKey] = []
    /// Derives key material from the session (RFC 5705 §4, RFC 8446 §7.5): label, context, count of bytes.
    package var export: (@Sendable (Data, Data?, Int) -> Data?)?
    /// What fits a datagram of DTLS: bytes of the longest message, and those that are added to a message.
    package var datagrams: (longestMessage: Int, overhead: Int)?

    package init() {}
}

/// What a TLS handshake negotiated, as `sec_protocol_metadata_*` functions take it.
///
/// The TLS engine fills it. Before that it tells nothing.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public final class sec_protocol_metadata_t: Sendable {
    private let storage: LockedValue<SecProtocolMetadataValues>
    /// Strings that functions have lent out. They live as long as this object.
    private let lent = LockedValue<[String: BorrowedString]>([:])

    package init(_ values: SecProtocolMetadataValues = SecProtocolMetadataValues()) {
        storage = LockedValue(values)
    }

    package var values: SecProtocolMetadataValues { storage.withLock { $0 } }

    package func update(_ body: @Sendable (inout SecProtocolMetadataValues) -> Void) {
        storage.withLock { body(&$0) }
    }

    /// A C string that stays valid as long as this object.
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

    // The address came from an allocation that this object owns, and is never 0.
    var pointer: UnsafePointer<CChar> { UnsafePointer(bitPattern: address)! }

    deinit { UnsafePointer<CChar>(bitPattern: address)?.deallocate() }
}

extension String {
    /// A copy with a zero at its end, from `malloc`, as Swift allocates whatever needs no unusual alignment: the caller
    /// may call `free`.
    func makeCString() -> UnsafePointer<CChar> {
        let bytes = utf8CString
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        return UnsafePointer(copy.baseAddress!)
    }
}
