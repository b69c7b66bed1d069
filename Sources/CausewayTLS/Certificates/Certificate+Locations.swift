extension Certificate {
    /// Where the certificate of the issuer can be fetched (RFC 5280 §4.2.2.1). Empty when it does not say.
    package var issuerLocations: [String] { locations(ofMethod: 2) }

    /// Where its status can be asked for (RFC 6960 §3.1). Empty when it does not say.
    package var statusLocations: [String] { locations(ofMethod: 1) }

    private func locations(ofMethod number: UInt8) -> [String] {
        guard let fields = try? CertificateFields(der), let access = fields.extensions.informationAccess else {
            return []
        }
        var result: [String] = []
        var outer = DERReader(access)
        // Nobody's trust depends on it: what cannot be read says nothing.
        guard let list = try? outer.next(DERTag.sequence) else { return [] }
        try? DERReader.all(list) { reader throws(DERError) in
            var entry = DERReader(try reader.next(DERTag.sequence))
            let method = try entry.next(DERTag.identifier)
            guard method.elementsEqual([0x2b, 6, 1, 5, 5, 7, 0x30, number]) else { return }
            if case .uri(let text) = try GeneralName(try entry.next()) { result.append(text) }
        }
        return result
    }
}
