extension Certificate {
    /// URLs for the issuer's certificate (RFC 5280 §4.2.2.1); empty if the certificate has none.
    package var issuerLocations: [String] { locations(ofMethod: 2) }

    /// OCSP responder URLs (RFC 6960 §3.1); empty if the certificate has none.
    package var statusLocations: [String] { locations(ofMethod: 1) }

    private func locations(ofMethod number: UInt8) -> [String] {
        guard let fields = try? CertificateFields(der) else { return [] }
        return fields.extensions.informationAccess.compactMap { access in
            guard access.method == [0x2b, 6, 1, 5, 5, 7, 0x30, number], case .uri(let text) = access.location else {
                return nil
            }
            return text
        }
    }
}
