internal import CCausewayLibraries

/// Applies ``TLSSettings`` to a new OpenSSL TLS context (`SSL_CTX`).
struct ContextBuilder {
    let pointer: OpaquePointer
    let settings: TLSSettings

    func build() throws(TLSFailure) {
        setOptions()
        try setVersionsAndSuites()
        try setGroups()
        try setApplicationProtocols()
        try setIdentity()
        try setPreSharedKeys()
        setVerification()
        try setSessions()
        if settings.logsKeys { cw_SSL_CTX_set_keylog_callback(pointer, keyLogCallback) }
        if settings.usesDatagrams, settings.side == .server {
            cw_SSL_CTX_set_cookie_generate_cb(pointer, makeCookieCallback)
            cw_SSL_CTX_set_cookie_verify_cb(pointer, checkCookieCallback)
        }
    }

    private func fail(_ what: String) -> TLSFailure {
        TLSFailure(.badConfiguration, "\(what): \(OpenSSLLibrary.takeReason())")
    }

    private func setOptions() {
        var options = UInt64(CW_OP_NO_COMPRESSION | CW_OP_NO_RENEGOTIATION | CW_OP_SERVER_PREFERENCE)
        if settings.usesDatagrams {
            options |= UInt64(CW_OP_NO_QUERY_MTU)
            if settings.side == .server { options |= UInt64(CW_OP_COOKIE_EXCHANGE) }
        }
        if !settings.areTicketsEnabled || !isResuming { options |= UInt64(CW_OP_NO_TICKET) }
        options |= Self.noCertificateDecompression
        // Clear SSL_OP_IGNORE_UNEXPECTED_EOF, because the system's OpenSSL configuration may set it. With this option,
        // truncated content would look complete.
        cw_SSL_CTX_clear_options(pointer, UInt64(CW_OP_IGNORE_UNEXPECTED_EOF))
        cw_SSL_CTX_set_options(pointer, options)
        var mode = CW_MODE_PARTIAL_WRITE | CW_MODE_MOVING_WRITE_BUFFER | CW_MODE_RELEASE_BUFFERS
        if settings.isFallbackAttempt { mode |= CW_MODE_SEND_FALLBACK_SCSV }
        cw_SSL_CTX_ctrl(pointer, CInt(CW_CTRL_MODE), mode, nil)
    }

    /// The option `SSL_OP_NO_RX_CERTIFICATE_COMPRESSION` (RFC 8879) of OpenSSL 3.2. With it, peers send no compressed
    /// certificates, which could not be checked before OpenSSL decodes them. Older versions do not support compression
    /// and ignore the option.
    private static let noCertificateDecompression: UInt64 = 1 << 33

    // MARK: Algorithms

    private var suites: [UInt16] {
        if !settings.cipherSuites.isEmpty { return settings.cipherSuites }
        var suites = CipherSuites.recommended
        if !settings.preSharedKeys.isEmpty { suites += CipherSuites.withPreSharedKey }
        switch settings.minimumVersion ?? settings.maximumVersion {
        case .tls10, .tls11, .dtls10: suites += CipherSuites.forOldVersions
        case .tls12, .tls13, .dtls12, nil: break
        }
        return suites
    }

    private func setVersionsAndSuites() throws(TLSFailure) {
        let isModern = CipherSuites.names(suites.filter(CipherSuites.isForTLS13))
        let isOlder = CipherSuites.names(suites.filter { !CipherSuites.isForTLS13($0) })
        guard !isModern.isEmpty || !isOlder.isEmpty else {
            throw TLSFailure(.badConfiguration, "OpenSSL supports none of the cipher suites")
        }
        let (lowest, highest) = try versions(hasModern: !isModern.isEmpty, hasOlder: !isOlder.isEmpty)
        // Before TLS 1.2, handshake signatures use MD5 and SHA-1. OpenSSL allows these only at security level 0. The
        // low level does not weaken the checks of certificates, because this library validates certificates itself.
        let isLegacy = lowest == .tls10 || lowest == .tls11 || lowest == .dtls10
        cw_SSL_CTX_set_security_level(pointer, isLegacy ? 0 : 2)
        guard cw_SSL_CTX_set_ciphersuites(pointer, isModern) == 1,
            isOlder.isEmpty || cw_SSL_CTX_set_cipher_list(pointer, isOlder) == 1,
            cw_SSL_CTX_ctrl(pointer, CInt(CW_CTRL_SET_MIN_VERSION), Int(lowest.rawValue), nil) == 1,
            cw_SSL_CTX_ctrl(pointer, CInt(CW_CTRL_SET_MAX_VERSION), Int(highest.rawValue), nil) == 1
        else { throw fail("OpenSSL rejects the versions or cipher suites") }
    }

    /// Returns the lowest and the highest permitted TLS version. Excludes versions without cipher suites in the
    /// settings.
    private func versions(hasModern: Bool, hasOlder: Bool) throws(TLSFailure) -> (TLSVersion, TLSVersion) {
        let order: [TLSVersion] = settings.usesDatagrams ? [.dtls10, .dtls12] : [.tls10, .tls11, .tls12, .tls13]
        let usual: TLSVersion = settings.usesDatagrams ? .dtls12 : .tls12
        guard var low = order.firstIndex(of: settings.minimumVersion ?? usual),
            var high = order.firstIndex(of: settings.maximumVersion ?? order[order.count - 1])
        else { throw TLSFailure(.badConfiguration, "the version is not available for this transport") }
        // The maximum can be lower than the default minimum. In that case, use the maximum as the minimum too.
        if settings.minimumVersion == nil { low = min(low, high) }
        if !settings.usesDatagrams {
            if !hasModern { high = min(high, 2) }
            if !hasOlder { low = max(low, 3) }
            // In TLS 1.3 a PSK identity has at least one byte (RFC 8446 §4.2.11).
            if settings.preSharedKeys.contains(where: \.identity.isEmpty) { high = min(high, 2) }
        }
        guard low <= high else {
            throw TLSFailure(.badConfiguration, "no version in the range supports one of the cipher suites")
        }
        return (order[low], order[high])
    }

    private func setGroups() throws(TLSFailure) {
        let lists =
            settings.groups.isEmpty ? KeyExchangeGroups.recommended : [KeyExchangeGroups.names(settings.groups)]
        guard lists.contains(where: { setList(CW_CTRL_SET_GROUPS_LIST, $0) }) else {
            throw fail("OpenSSL supports none of the groups")
        }
        cw_ERR_clear_error()
    }

    private func setApplicationProtocols() throws(TLSFailure) {
        guard !settings.applicationProtocols.isEmpty else { return }
        var list: [UInt8] = []
        for name in settings.applicationProtocols {
            guard (1...255).contains(name.utf8.count) else {
                throw TLSFailure(.badConfiguration, "an application protocol must have 1 to 255 bytes")
            }
            list.append(UInt8(name.utf8.count))
            list += Array(name.utf8)
        }
        switch settings.side {
        case .client:
            guard cw_SSL_CTX_set_alpn_protos(pointer, list, CUnsignedInt(list.count)) == 0 else {
                throw fail("OpenSSL rejects the application protocols")
            }
        case .server: cw_SSL_CTX_set_alpn_select_cb(pointer, selectProtocolCallback, nil)
        }
    }

    // MARK: Identity and validation

    private func setIdentity() throws(TLSFailure) {
        guard let identity = settings.identity else {
            guard settings.side == .client || !settings.preSharedKeys.isEmpty else {
                throw TLSFailure(.badConfiguration, "a TLS server requires an identity or a pre-shared key")
            }
            return
        }
        try prepareEdwards(identity)
        let isSet = withStack(of: Array(identity.certificates.dropFirst())) { others in
            cw_SSL_CTX_use_cert_and_key(
                pointer, identity.certificates[0].object.pointer, identity.key.pointer, others, 1) == 1
        }
        guard isSet else { throw fail("the identity \"\(identity.certificates[0])\" cannot be used") }
    }

    /// Works around OpenSSL 3.0, which finds no DTLS cipher suite for a server with only an Edwards curve key. Adds an
    /// ECDSA key, which is never used, because the server's signature schemes are limited to those for the real key.
    private func prepareEdwards(_ identity: TLSIdentity) throws(TLSFailure) {
        guard settings.usesDatagrams, settings.side == .server, let scheme = identity.edwardsScheme else { return }
        let other = try CertificateTemplate(subject: "unused", notBefore: 0, notAfter: 0).issue()
        let isSet =
            cw_SSL_CTX_use_cert_and_key(
                pointer, other.certificates[0].object.pointer, other.key.pointer, nil, 1) == 1
            && setList(CW_CTRL_SET_SIGNATURES_LIST, scheme)
            // The list of server signature schemes, set above, also limits the schemes for client certificates. So set
            // the schemes for client certificates separately.
            && setList(CW_CTRL_SET_CLIENT_SIGNATURES_LIST, Self.clientSchemes)
        guard isSet else { throw fail("the identity \"\(identity.certificates[0])\" cannot be used") }
    }

    private static let clientSchemes =
        "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:ed448:rsa_pss_rsae_sha256:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512"
        + ":rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512:RSA+SHA256:RSA+SHA384:RSA+SHA512"

    private func setList(_ command: Int, _ list: String) -> Bool {
        list.withCString {
            cw_SSL_CTX_ctrl(pointer, CInt(command), 0, UnsafeMutableRawPointer(mutating: $0)) == 1
        }
    }

    private func setPreSharedKeys() throws(TLSFailure) {
        for key in settings.preSharedKeys {
            guard (1...256).contains(key.key.count), key.identity.count <= 128 else {
                throw TLSFailure(
                    .badConfiguration, "a pre-shared key must have 1 to 256 bytes and its identity at most 128")
            }
        }
        guard !settings.preSharedKeys.isEmpty else { return }
        switch settings.side {
        case .client: cw_SSL_CTX_set_psk_client_callback(pointer, choosePreSharedKeyCallback)
        case .server:
            cw_SSL_CTX_set_psk_server_callback(pointer, findPreSharedKeyCallback)
            guard let hint = settings.preSharedKeyHint else { return }
            guard hint.count <= 128, !hint.contains(0),
                cw_SSL_CTX_use_psk_identity_hint(pointer, String(decoding: hint, as: UTF8.self)) == 1
            else { throw fail("the pre-shared key hint must have at most 128 bytes and no zero byte") }
        }
    }

    private func setVerification() {
        var mode = CW_VERIFY_NONE
        switch (settings.side, settings.peerAuthentication) {
        case (_, .none): break
        case (.client, .optional), (.client, .required), (.server, .optional): mode = CW_VERIFY_PEER
        case (.server, .required): mode = CW_VERIFY_PEER | CW_VERIFY_REQUIRED
        }
        cw_SSL_CTX_set_verify(pointer, CInt(mode), nil)
        cw_SSL_CTX_set_cert_verify_callback(pointer, verifyCallback, nil)
        cw_SSL_CTX_ctrl(pointer, CInt(CW_CTRL_SET_MAX_CERT_LIST), 100 << 10, nil)
        cw_SSL_CTX_set_msg_callback(pointer, messageCallback)
        guard settings.side == .server else {
            guard settings.requestsStatus else { return }
            cw_SSL_CTX_ctrl(pointer, CInt(CW_CTRL_SET_STATUS_TYPE), CW_STATUS_TYPE_OCSP, nil)
            cw_set_status_callback(pointer, receiveStatusCallback)
            return
        }
        if settings.stapledResponse != nil { cw_set_status_callback(pointer, sendStatusCallback) }
        guard settings.peerAuthentication != .none else { return }
        for anchor in settings.trust.anchors { cw_SSL_CTX_add1_to_CA_list(pointer, anchor.object.pointer) }
    }

    // MARK: Sessions

    /// The maximum early data in bytes that a server accepts.
    private static let maximumEarlyData: UInt32 = 16_384
    private static let serverSessions = 1_024

    /// Whether sessions may be resumed.
    ///
    /// `false` for a server if the engine's owner (the code that uses the engine) validates the clients. A client may
    /// send its certificate and the end of its handshake in one record. OpenSSL then creates the session ticket before
    /// the owner has decided. With this ticket, a client that the owner refuses could connect again without a
    /// validation.
    private var isResuming: Bool {
        guard case .owner = settings.verifier, settings.side == .server, settings.peerAuthentication != .none else {
            return settings.isResumptionEnabled
        }
        return false
    }

    private func setSessions() throws(TLSFailure) {
        var mode = CW_CACHE_OFF
        switch settings.side {
        case .client:
            guard isResuming else { break }
            mode = CW_CACHE_CLIENT | CW_CACHE_NO_INTERNAL
            cw_SSL_CTX_sess_set_new_cb(pointer, newSessionCallback)
        case .server:
            cw_SSL_CTX_set_session_id_context(pointer, [UInt8]("causeway".utf8), 8)
            let hasTickets = isResuming && settings.areTicketsEnabled
            // Send one ticket per connection. If a client opens several connections at the same time, it receives a
            // ticket on each, and has enough tickets when it opens as many again. A ticket saves a full handshake,
            // which takes 25 times as long as creating the ticket.
            cw_SSL_CTX_set_num_tickets(pointer, hasTickets ? 1 : 0)
            guard settings.isEarlyDataEnabled, hasTickets, !settings.usesDatagrams else { break }
            // With early data, each ticket is valid only once. The server must therefore remember the tickets that it
            // has issued (RFC 8446 §8.1).
            mode = CW_CACHE_SERVER
            cw_SSL_CTX_ctrl(pointer, CInt(CW_CTRL_SET_SESSION_CACHE_SIZE), Self.serverSessions, nil)
            guard cw_SSL_CTX_set_max_early_data(pointer, Self.maximumEarlyData) == 1 else {
                throw fail("OpenSSL rejects the early data limit")
            }
        }
        cw_SSL_CTX_ctrl(pointer, CInt(CW_CTRL_SET_SESSION_CACHE_MODE), mode, nil)
    }
}
