internal import CCausewayLibraries

/// An X.509 certificate (RFC 5280 §4.1). Immutable; copies share one object.
package struct Certificate: Sendable {
    let object: SharedObject

    init(object: SharedObject) { self.object = object }

    /// Creates a certificate from a borrowed pointer and retains it.
    init(retaining pointer: OpaquePointer) {
        cw_X509_up_ref(pointer)
        self.init(object: SharedObject(owning: pointer, .certificate))
    }

    /// Parses one certificate in DER, without trailing bytes.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLBadCert`.
    package init(der: [UInt8]) throws(TLSFailure) {
        try OpenSSLLibrary.load()
        let pointer: OpaquePointer? = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            guard let pointer = cw_d2i_X509(nil, &cursor, bytes.count) else { return nil }
            if cursor == bytes.baseAddress.map({ $0 + bytes.count }) { return pointer }
            cw_X509_free(pointer)
            return nil
        }
        guard let pointer else {
            throw TLSFailure(.badCertificate, "not a certificate in DER: \(OpenSSLLibrary.takeReason())")
        }
        self.init(object: SharedObject(owning: pointer, .certificate))
    }

    /// Parses all certificates in PEM text, in order. Ignores other blocks.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLBadCert` if there is no certificate.
    package static func all(pem: [UInt8]) throws(TLSFailure) -> [Certificate] {
        try OpenSSLLibrary.load()
        let result: [Certificate] = pem.withUnsafeBytes { bytes in
            guard let bio = cw_BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return [] }
            defer { cw_BIO_free(bio) }
            var found: [Certificate] = []
            var damagedCount = 0
            // Clear the errors of earlier calls. Otherwise such an error could be mistaken for an error in the first
            // PEM block.
            cw_ERR_clear_error()
            while damagedCount <= maximumDamaged {
                if let pointer = cw_PEM_read_bio_X509(bio, nil, cw_password, nil) {
                    found.append(Certificate(object: SharedObject(owning: pointer, .certificate)))
                } else if isAtEndOfPEM {
                    break
                } else {
                    damagedCount += 1
                }
            }
            return found
        }
        cw_ERR_clear_error()
        guard !result.isEmpty else { throw TLSFailure(.badCertificate, "the PEM text contains no certificate") }
        return result
    }

    /// The maximum number of malformed certificates in PEM text; the parser stops after that.
    private static let maximumDamaged = 64

    /// Whether the oldest error in OpenSSL's error queue means the end of the PEM text. Any other error means a
    /// malformed block. This property also clears the queue.
    private static var isAtEndOfPEM: Bool {
        let number = cw_ERR_peek_error()
        cw_ERR_clear_error()
        return number >> 23 & 0xff == UInt(CW_LIBRARY_PEM) && number & 0x7f_ffff == UInt(CW_PEM_NO_START_LINE)
    }
}

extension Certificate: Hashable {
    package static func == (a: Certificate, b: Certificate) -> Bool {
        a.object === b.object || a.der == b.der
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
