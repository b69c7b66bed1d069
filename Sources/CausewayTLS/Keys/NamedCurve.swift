/// The elliptic curves for which Apple's API generates keys (FIPS 186-4 §D.1.2).
package enum NamedCurve: CaseIterable, Hashable, Sendable {
    case p256, p384, p521

    package var bitCount: Int {
        switch self {
        case .p256: 256
        case .p384: 384
        case .p521: 521
        }
    }

    /// The size in bytes of a coordinate or private value.
    package var byteCount: Int { (bitCount + 7) / 8 }

    /// OpenSSL's curve name.
    var name: String { "P-\(bitCount)" }

    /// The DER-encoded object identifier, without header.
    var identifier: [UInt8] {
        switch self {
        case .p256: SigningKey.Curve.p256.identifier
        case .p384: SigningKey.Curve.p384.identifier
        case .p521: SigningKey.Curve.p521.identifier
        }
    }
}
