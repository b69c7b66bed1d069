internal import CCausewayLibraries

extension Certificate {
    /// The certificate in DER, unchanged.
    package var der: [UInt8] { encoded { cw_i2d_X509(object.pointer, $0) } }

    /// The certificate's SHA-256 digest: 32 bytes.
    package var fingerprint: [UInt8] { sha256(der) }

    /// The subject as RFC 4514 text: `CN=example.org,O=Example`.
    package var subject: String { Self.text(of: cw_X509_get_subject_name(object.pointer)) }

    /// The issuer, formatted like ``subject``.
    package var issuer: String { Self.text(of: cw_X509_get_issuer_name(object.pointer)) }

    /// The subject in DER.
    package var subjectDER: [UInt8] { encoded { cw_i2d_X509_NAME(cw_X509_get_subject_name(object.pointer), $0) } }

    /// The start of validity in seconds since 1970; `Int64.min` if malformed.
    package var notBefore: Int64 { cw_seconds(cw_X509_get0_notBefore(object.pointer)) }

    /// The final second of validity, in seconds since 1970; `Int64.min` if malformed.
    package var notAfter: Int64 { cw_seconds(cw_X509_get0_notAfter(object.pointer)) }

    /// The serial number, most significant byte first.
    package var serialNumber: [UInt8] { Self.bytes(of: cw_X509_get0_serialNumber(object.pointer)) }

    /// The public key and its algorithm in DER (RFC 5280 §4.1.2.7).
    package var subjectPublicKeyInfo: [UInt8] {
        encoded { cw_i2d_X509_PUBKEY(cw_X509_get_X509_PUBKEY(object.pointer), $0) }
    }

    /// The SHA-256 digest of ``subjectPublicKeyInfo``, for pinning (RFC 7469 §2.4).
    package var publicKeyPin: [UInt8] { sha256(subjectPublicKeyInfo) }

    /// The key algorithm and size, such as `EC 256 bits`.
    package var keyDescription: String {
        guard let key = cw_X509_get0_pubkey(object.pointer) else { return "unknown key type" }
        let name = cw_EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "key of"
        return "\(name) \(cw_EVP_PKEY_get_bits(key)) bits"
    }

    /// The signature algorithm, such as `ecdsa-with-SHA256`.
    package var signatureAlgorithm: String {
        cw_OBJ_nid2ln(cw_X509_get_signature_nid(object.pointer)).map { String(cString: $0) } ?? "unknown"
    }

    /// Whether the certificate belongs to a certification authority (RFC 5280 §4.2.1.9).
    package var isAuthority: Bool {
        cw_X509_get_extension_flags(object.pointer) & UInt32(CW_FLAG_CA) != 0
    }

    /// Whether the certificate requires that its TLS server staples an OCSP response in each handshake (TLS feature
    /// extension, RFC 7633 §4).
    ///
    /// A malformed TLS feature extension counts as this requirement.
    package var mustStaple: Bool {
        let index = cw_X509_get_ext_by_NID(object.pointer, CInt(CW_NID_TLS_FEATURE), -1)
        guard index >= 0 else { return false }
        let content = Self.bytes(of: cw_X509_EXTENSION_get_data(cw_X509_get_ext(object.pointer, index)))
        return (try? Self.tlsFeatures(content).contains(Self.statusRequest)) ?? true
    }

    /// The TLS feature number that stands for a stapled OCSP response. It is the number of the TLS extension (RFC 6066
    /// §8).
    private static let statusRequest = 5

    /// Parses the TLS features: the numbers of the extensions that the server must support (RFC 7633 §4.1).
    private static func tlsFeatures(_ content: [UInt8]) throws(DERError) -> [Int] {
        var outer = DERReader(content[...])
        let list = try outer.next(DERTag.sequence)
        try outer.end()
        var features: [Int] = []
        try DERReader.all(list) { reader throws(DERError) in features.append(try reader.smallNumber()) }
        return features
    }

    /// The subject alternative names; empty if the extension is missing or malformed.
    package var alternativeNames: [SubjectAlternativeName] {
        guard let names = cw_X509_get_ext_d2i(object.pointer, CInt(CW_NID_SUBJECT_ALT_NAME), nil, nil) else {
            return []
        }
        defer { cw_free_general_names(names) }
        let stack = OpaquePointer(names)
        return (0..<max(0, cw_OPENSSL_sk_num(stack))).compactMap { index in
            cw_OPENSSL_sk_value(stack, index).map { Self.alternativeName(OpaquePointer($0)) }
        }
    }

    private static func alternativeName(_ name: OpaquePointer) -> SubjectAlternativeName {
        var kind: CInt = 0
        guard let value = cw_GENERAL_NAME_get0_value(name, &kind) else { return .other }
        switch Int(kind) {
        case CW_GENERAL_DNS: return .name(text(bytes(of: OpaquePointer(value))))
        case CW_GENERAL_EMAIL: return .email(text(bytes(of: OpaquePointer(value))))
        case CW_GENERAL_URI: return .uri(text(bytes(of: OpaquePointer(value))))
        case CW_GENERAL_ADDRESS: return .address(bytes(of: OpaquePointer(value)))
        default: return .other
        }
    }

    /// Decodes bytes as text. Malformed UTF-8 becomes replacement characters, which match no name.
    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    private static func bytes(of string: OpaquePointer?) -> [UInt8] {
        guard let string, let bytes = cw_ASN1_STRING_get0_data(string) else { return [] }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: max(0, Int(cw_ASN1_STRING_length(string)))))
    }

    static func text(of name: OpaquePointer?) -> String {
        guard let name, let bio = cw_BIO_new(cw_BIO_s_mem()) else { return "" }
        defer { cw_BIO_free(bio) }
        guard cw_X509_NAME_print_ex(bio, name, 0, CUnsignedLong(CW_NAME_RFC2253)) >= 0 else { return "" }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = cw_BIO_ctrl(bio, CInt(CW_BIO_CTRL_INFO), 0, &bytes)
        guard count > 0, let bytes else { return "" }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}

extension Certificate: CustomStringConvertible {
    /// The subject, or the first alternative name if the subject is empty.
    package var description: String {
        let subject = subject
        if !subject.isEmpty { return subject }
        for name in alternativeNames {
            switch name {
            case .name(let text), .email(let text), .uri(let text): return text
            case .address, .other: continue
            }
        }
        return "a certificate without a name"
    }
}
