extension Certificate {
    /// Where the certificate of the issuer can be fetched (RFC 5280 §4.2.2.1). Empty when it does not say.
    package var issuerLocations: [String] { locations(ofMethod: 2) }

    /// Where its status can be asked for (RFC 6960 §3.1). Empty when it does not say.
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
