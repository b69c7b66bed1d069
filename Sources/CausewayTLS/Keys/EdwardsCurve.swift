internal import CCausewayLibraries

/// The curves of EdDSA (RFC 8032 §5). An EdDSA key signs the message itself and not a digest, because the algorithm
/// computes its own digest.
enum EdwardsCurve: String, CaseIterable {
    /// The raw values are OpenSSL's key type names.
    case ed25519 = "ED25519"
    case ed448 = "ED448"

    /// Returns the curve of an OpenSSL key; `nil` for a key of another type.
    init?(_ key: OpaquePointer) {
        guard let name = cw_EVP_PKEY_get0_type_name(key) else { return nil }
        self.init(rawValue: String(cString: name))
    }

    /// OpenSSL's name of the signature scheme.
    var schemeName: String { rawValue.lowercased() }

    /// The AlgorithmIdentifier of keys and signatures in DER (RFC 8410 §3).
    var algorithm: [UInt8] {
        switch self {
        case .ed25519: DERWriter.sequence(DERWriter.identifier(1, 3, 101, 112))
        case .ed448: DERWriter.sequence(DERWriter.identifier(1, 3, 101, 113))
        }
    }
}
