internal import CCausewayLibraries

extension OpenSSLEngine {
    package var negotiation: TLSNegotiation? {
        guard case .established = state,
            let version = TLSVersion(rawValue: UInt16(truncatingIfNeeded: cw_SSL_version(ssl)))
        else { return nil }
        return TLSNegotiation(
            version: version,
            cipherSuite: cw_SSL_get_current_cipher(ssl).map { cw_SSL_CIPHER_get_protocol_id($0) } ?? 0,
            group: KeyExchangeGroups.number(ofLibrary: cw_SSL_ctrl(ssl, CInt(CW_CTRL_GET_NEGOTIATED_GROUP), 0, nil)),
            applicationProtocol: applicationProtocol,
            serverName: cw_SSL_get_servername(ssl, 0).map { String(cString: $0) },
            isResumed: cw_SSL_session_reused(ssl) == 1,
            isEarlyDataAccepted: cw_SSL_get_early_data_status(ssl) == CInt(CW_EARLY_DATA_ACCEPTED),
            peerCertificates: peerCertificates,
            stapledResponse: isClient ? stapledResponse : nil,
            datagrams: usesDatagrams ? datagramLimits : nil)
    }

    private var datagramLimits: TLSDatagramLimits {
        let longest = Int(cw_DTLS_get_data_mtu(ssl))
        return TLSDatagramLimits(longestMessage: longest, overhead: settings.maximumDatagram - longest)
    }

    private var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        cw_SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard count > 0, let bytes else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    private var peerCertificates: [Certificate] {
        let chain = Certificate.all(in: cw_SSL_get_peer_cert_chain(ssl))
        // On a server, the chain from OpenSSL does not contain the client's own certificate. So add it.
        guard !isClient, let leaf = cw_SSL_get0_peer_certificate(ssl) else { return chain }
        return [Certificate(retaining: leaf)] + chain
    }

    var stapledResponse: [UInt8]? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = cw_SSL_ctrl(ssl, CInt(CW_CTRL_GET_STATUS_RESPONSE), 0, &bytes)
        guard count > 0, let bytes else { return nil }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    package func exportSecret(label: String, context: [UInt8]?, count: Int) -> [UInt8]? {
        guard case .established = state, (1...65_535).contains(count) else { return nil }
        var secret = [UInt8](repeating: 0, count: count)
        let result = label.utf8CString.withUnsafeBufferPointer { text in
            cw_SSL_export_keying_material(
                ssl, &secret, count, text.baseAddress, text.count - 1, context ?? [], context?.count ?? 0,
                context == nil ? 0 : 1)
        }
        cw_ERR_clear_error()
        return result == 1 ? secret : nil
    }

    /// The server's request for a client certificate.
    var challenge: TLSChallenge {
        var authorities: [[UInt8]] = []
        if let names = cw_SSL_get0_peer_CA_list(ssl) {
            for index in 0..<max(0, cw_OPENSSL_sk_num(names)) {
                guard let name = cw_OPENSSL_sk_value(names, index).map({ OpaquePointer($0) }) else { continue }
                authorities.append(encoded { cw_i2d_X509_NAME(name, $0) })
            }
        }
        var schemes: [UInt16] = []
        for index in 0..<max(0, cw_SSL_get_sigalgs(ssl, -1, nil, nil, nil, nil, nil)) {
            var low: UInt8 = 0
            var high: UInt8 = 0
            guard cw_SSL_get_sigalgs(ssl, index, nil, nil, nil, &low, &high) > 0 else { break }
            schemes.append(UInt16(high) << 8 | UInt16(low))
        }
        return TLSChallenge(authorities: authorities, signatureSchemes: schemes)
    }
}
