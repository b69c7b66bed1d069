internal import CCausewayLibraries
internal import FoundationEssentials

/// A certificate's status from a stapled OCSP response (RFC 6960 §4.2).
enum StapledStatus: Equatable {
    case good
    case revoked
    /// There is no response, or the response is invalid. The value is the reason.
    case unusable(String)

    /// The accepted difference between the responder's clock and the local clock, in seconds.
    private static let tolerance: Int64 = 300
    /// The validity in seconds for a response without nextUpdate.
    private static let usualLife: Int64 = 7 * 86_400
    /// The maximum response size in bytes. Usual responses have a few kilobytes.
    private static let largest = 64 << 10

    /// Parses a DER response, and checks that its signature and times are valid and that it is about this certificate.
    ///
    /// - Parameters:
    ///   - der: The response; `nil` if there was none.
    ///   - leaf: The certificate.
    ///   - issuer: The certificate that signed `leaf`. It must have signed the response, or authorized the signing certificate.
    ///   - time: The validation time in seconds since 1970; `nil` for the current time.
    init(_ der: [UInt8]?, leaf: Certificate, issuer: Certificate, time: Int64?) {
        guard let der, !der.isEmpty else {
            self = .unusable("there was no OCSP response")
            return
        }
        self = Self.evaluate(der, leaf, issuer, time ?? Int64(Date().timeIntervalSince1970))
        cw_ERR_clear_error()
    }

    private static func evaluate(
        _ der: [UInt8], _ leaf: Certificate, _ issuer: Certificate, _ now: Int64
    ) -> StapledStatus {
        guard der.count <= largest else { return .unusable("the OCSP response is too large") }
        // OpenSSL decodes the responder's certificate together with the response. Decoding explicit curve parameters is
        // slow. So reject a response with such parameters first.
        guard !der.withUnsafeBytes({ CertificateMessage.definesCurve($0) }) else {
            return .unusable("the OCSP response has a key with explicit curve parameters")
        }
        let response: OpaquePointer? = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return cw_d2i_OCSP_RESPONSE(nil, &cursor, bytes.count)
        }
        guard let response else { return .unusable("the OCSP response is malformed") }
        defer { cw_OCSP_RESPONSE_free(response) }
        guard cw_OCSP_response_status(response) == CInt(CW_OCSP_SUCCESSFUL),
            let basic = cw_OCSP_response_get1_basic(response)
        else { return .unusable("the OCSP response reports an error") }
        defer { cw_OCSP_BASICRESP_free(basic) }
        // Trust the issuer's certificate here, because the chain's validation checks that certificate. If the issuer
        // signed the response, no other certificate is needed. Any other responder needs a certificate for OCSP signing
        // from this issuer (RFC 6960 §4.2.2.2).
        guard let store = cw_X509_STORE_new() else { return .unusable("out of memory") }
        defer { cw_X509_STORE_free(store) }
        cw_X509_STORE_add_cert(store, issuer.object.pointer)
        cw_X509_STORE_set_flags(store, CUnsignedLong(CW_CHAIN_PARTIAL))
        let isSigned = withStack(of: [issuer]) {
            cw_OCSP_basic_verify(basic, $0, store, CUnsignedLong(CW_OCSP_TRUST_OTHER)) == 1
        }
        guard isSigned else { return .unusable("the signature of the OCSP response is invalid") }
        return find(leaf, issuer, in: basic, now)
    }

    private static func find(
        _ leaf: Certificate, _ issuer: Certificate, in basic: OpaquePointer, _ now: Int64
    ) -> StapledStatus {
        // OCSP responders identify certificates by SHA-1 digests. Here a digest is only an identifier and gives no
        // security.
        guard let identifier = cw_OCSP_cert_to_id(cw_EVP_sha1(), leaf.object.pointer, issuer.object.pointer) else {
            return .unusable("OpenSSL cannot identify the certificate")
        }
        defer { cw_OCSP_CERTID_free(identifier) }
        var status: CInt = -1
        var thisUpdate: OpaquePointer?
        var nextUpdate: OpaquePointer?
        guard cw_OCSP_resp_find_status(basic, identifier, &status, nil, nil, &thisUpdate, &nextUpdate) == 1 else {
            return .unusable("the OCSP response is for another certificate")
        }
        let start = cw_seconds(thisUpdate)
        // The times in the response have four-digit years, so adding to them cannot overflow. The program can pass any
        // number as `now`, so add nothing to `now`.
        guard start != .min, start - tolerance <= now else { return .unusable("the OCSP response is not valid yet") }
        let end = nextUpdate.map { cw_seconds($0) } ?? start + usualLife
        guard end != .min, now <= end + tolerance else {
            return .unusable("the OCSP response has expired")
        }
        switch Int(status) {
        case CW_OCSP_GOOD: return .good
        case CW_OCSP_REVOKED: return .revoked
        default: return .unusable("the responder does not know the certificate")
        }
    }
}
