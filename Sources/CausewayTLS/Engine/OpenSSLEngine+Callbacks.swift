internal import CCausewayLibraries

// OpenSSL makes these callbacks on the caller's thread, during the engine's methods. Only the key log callback calls
// code of the engine's owner.

extension OpenSSLEngine {
    /// Validates the peer's certificates, or asks the engine's owner to do so. Returns 1 if the handshake may continue.
    fileprivate func verify(_ chain: OpaquePointer) -> CInt {
        guard settings.peerAuthentication != .none else { return 1 }
        switch settings.verifier {
        case .rules: return applyRules(chain)
        case .owner: return askOwner(chain)
        }
    }

    private func applyRules(_ chain: OpaquePointer) -> CInt {
        let trust = peerTrust(chain)
        do {
            peerDecision = .acceptedByRules(trust, chain: try trust.evaluate())
            cw_X509_STORE_CTX_set_error(chain, CInt(CW_V_OK))
            return 1
        } catch {
            peerDecision = .rejected(TLSFailure(error))
            cw_X509_STORE_CTX_set_error(chain, error.libraryResult)
            return 0
        }
    }

    private func askOwner(_ chain: OpaquePointer) -> CInt {
        switch peerDecision {
        case .acceptedByRules, .acceptedByOwner:
            cw_X509_STORE_CTX_set_error(chain, CInt(CW_V_OK))
            return 1
        case .rejected:
            cw_X509_STORE_CTX_set_error(chain, CInt(CW_V_REJECTED))
            return 0
        case .pending: break
        }
        state = .awaitingTrust(peerTrust(chain))
        if isClient {
            cw_SSL_ctrl(ssl, CInt(CW_CTRL_SET_RETRY_VERIFY), 0, nil)
        } else {
            // OpenSSL can pause a client's handshake until the peer's certificates are validated. It cannot pause a
            // server's handshake. So on a server, hold back the later input. If OpenSSL has already read the client's
            // remaining handshake messages, the handshake completes nevertheless: see `step`.
            cw_pipe_hold(pipe, true)
        }
        return 1
    }

    private func peerTrust(_ chain: OpaquePointer) -> PeerTrust {
        var certificates = Certificate.all(in: cw_X509_STORE_CTX_get0_untrusted(chain))
        if certificates.isEmpty, let leaf = cw_X509_STORE_CTX_get0_cert(chain) {
            certificates = [Certificate(retaining: leaf)]
        }
        guard case .client(let reference, _) = role else {
            return PeerTrust(
                certificates: certificates, role: .client, reference: nil, settings: settings.trust,
                store: context.store)
        }
        return PeerTrust(
            certificates: certificates, role: .server, reference: reference, stapledResponse: stapledResponse,
            settings: settings.trust, store: context.store)
    }

    /// Checks the peer's certificates before OpenSSL decodes them.
    ///
    /// OpenSSL cannot reject a message at this point. To reject one, this function overwrites the first length byte in
    /// OpenSSL's copy with an invalid value. Then decoding fails.
    fileprivate func inspect(_ message: UnsafeRawBufferPointer, hasContext: Bool) {
        // A handshake message starts with its type and its length. In DTLS, a sequence number and the fragment's
        // position follow.
        let headerLength = usesDatagrams ? 12 : 4
        guard message.count > headerLength, message[0] == CertificateMessage.type else { return }
        let body = UnsafeRawBufferPointer(rebasing: message[headerLength...])
        guard let failure = CertificateMessage.objection(to: body, hasContext: hasContext) else { return }
        peerDecision = .rejected(TLSFailure(failure))
        UnsafeMutableRawBufferPointer(mutating: body)[0] = 0xff
    }

    fileprivate func chooseIdentity() -> CInt {
        if didChooseIdentity { return 1 }
        state = .awaitingIdentity(challenge)
        return -1
    }

    /// Checks the stapled OCSP response, which TLS 1.2 sends after the certificates (RFC 6066 §8).
    ///
    /// A revoked certificate ends the connection. An invalid response counts as no response: the connection then fails
    /// only if the certificate requires a response (RFC 7633 §4.3.3).
    ///
    /// If the code that uses the engine validates the certificates, it does so before the response arrives. This
    /// function then also rejects a revoked certificate that this code has accepted.
    fileprivate func checkStatus() -> CInt {
        let response = stapledResponse
        let failure: TrustFailure? =
            switch peerDecision {
            case .acceptedByRules(let trust, let chain): trust.statusFailure(response, of: chain)
            case .acceptedByOwner(let trust): trust.revocation(response)
            case .pending, .rejected: nil
            }
        guard let failure else { return 1 }
        peerDecision = .rejected(TLSFailure(failure))
        return 0
    }

    /// Staples a copy of the configured OCSP response. OpenSSL takes ownership of the copy.
    fileprivate func sendStatus() -> CInt {
        guard let response = settings.stapledResponse, let copy = cw_CRYPTO_malloc(response.count, "causeway", 0) else {
            return CInt(CW_EXT_NO_ACK)
        }
        response.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        cw_SSL_ctrl(ssl, CInt(CW_CTRL_SET_STATUS_RESPONSE), response.count, copy)
        return CInt(CW_EXT_OK)
    }

    /// Selects the application protocol. This is the first of the server's protocols that the client also offers.
    fileprivate func selectProtocol(_ offered: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        for name in settings.applicationProtocols {
            var start = 0
            while start < offered.count {
                let end = start + 1 + Int(offered[start])
                guard end <= offered.count else { break }
                if offered[(start + 1)..<end].elementsEqual(name.utf8) { return (start + 1)..<end }
                start = end
            }
        }
        return nil
    }

    fileprivate func keep(_ session: OpaquePointer) -> Bool {
        guard case .client(_, let sessionPeer?) = role, settings.isResumptionEnabled,
            cw_SSL_SESSION_is_resumable(session) == 1
        else { return false }
        context.sessions.insert(SharedObject(owning: session, .session), for: sessionPeer)
        return true
    }

    /// Returns the next retransmission timeout in microseconds: twice the previous timeout, up to a minute
    /// (RFC 6347 §4.2.4.1).
    fileprivate func nextTimeout(after previous: UInt32) -> UInt32 {
        let timeout = previous == 0 ? settings.firstRetransmission : .microseconds(previous) * 2
        // Each timeout is twice the previous timeout. A timeout of zero would stay zero, and the timer would always be
        // due.
        let (seconds, attoseconds) = min(max(timeout, .microseconds(1)), .seconds(60)).components
        return UInt32(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}

func verifyCallback(_ chain: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> CInt {
    guard let chain, let ssl = cw_X509_STORE_CTX_get_ex_data(chain, cw_SSL_get_ex_data_X509_STORE_CTX_idx()),
        let engine = OpenSSLEngine.of(OpaquePointer(ssl))
    else { return 0 }
    return engine.verify(chain)
}

private let handshakeContent: CInt = 22

func messageCallback(
    _ isOutgoing: CInt, _ version: CInt, _ contentType: CInt, _ bytes: UnsafeRawPointer?, _ count: Int,
    _ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?
) {
    guard isOutgoing == 0, contentType == handshakeContent, let engine = OpenSSLEngine.of(ssl) else { return }
    engine.inspect(UnsafeRawBufferPointer(start: bytes, count: count), hasContext: version == CInt(CW_TLS1_3))
}

func chooseIdentityCallback(_ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> CInt {
    OpenSSLEngine.of(ssl)?.chooseIdentity() ?? 0
}

func receiveStatusCallback(_ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> CInt {
    OpenSSLEngine.of(ssl)?.checkStatus() ?? 0
}

func sendStatusCallback(_ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> CInt {
    OpenSSLEngine.of(ssl)?.sendStatus() ?? CInt(CW_EXT_NO_ACK)
}

func selectProtocolCallback(
    _ ssl: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ outCount: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ count: CUnsignedInt, _ argument: UnsafeMutableRawPointer?
) -> CInt {
    guard let engine = OpenSSLEngine.of(ssl), let out, let outCount, let offered,
        let range = engine.selectProtocol(UnsafeBufferPointer(start: offered, count: Int(count)))
    else { return CInt(CW_EXT_ALERT_FATAL) }
    out.pointee = offered + range.lowerBound
    outCount.pointee = UInt8(range.count)
    return CInt(CW_EXT_OK)
}

func newSessionCallback(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> CInt {
    guard let session, let engine = OpenSSLEngine.of(ssl) else { return 0 }
    return engine.keep(session) ? 1 : 0
}

func keyLogCallback(_ ssl: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let line else { return }
    OpenSSLEngine.of(ssl)?.keyLog?(String(cString: line))
}

/// Passes the first pre-shared key in the settings to OpenSSL, which supports only one pre-shared key on a client.
func choosePreSharedKeyCallback(
    _ ssl: OpaquePointer?, _ hint: UnsafePointer<CChar>?, _ identity: UnsafeMutablePointer<CChar>?,
    _ identityCapacity: CUnsignedInt, _ key: UnsafeMutablePointer<UInt8>?, _ keyCapacity: CUnsignedInt
) -> CUnsignedInt {
    guard let chosen = OpenSSLEngine.of(ssl)?.settings.preSharedKeys.first, let identity, let key,
        chosen.identity.count < Int(identityCapacity), chosen.key.count <= Int(keyCapacity)
    else { return 0 }
    for (index, byte) in chosen.identity.enumerated() { identity[index] = CChar(bitPattern: byte) }
    identity[chosen.identity.count] = 0
    for (index, byte) in chosen.key.enumerated() { key[index] = byte }
    return CUnsignedInt(chosen.key.count)
}

func findPreSharedKeyCallback(
    _ ssl: OpaquePointer?, _ identity: UnsafePointer<CChar>?, _ key: UnsafeMutablePointer<UInt8>?,
    _ keyCapacity: CUnsignedInt
) -> CUnsignedInt {
    guard let engine = OpenSSLEngine.of(ssl), let identity, let key else { return 0 }
    let wanted = UnsafeBufferPointer(start: identity, count: strlen(identity)).map { UInt8(bitPattern: $0) }
    guard let found = engine.settings.preSharedKeys.first(where: { $0.identity == wanted }),
        found.key.count <= Int(keyCapacity)
    else { return 0 }
    for (index, byte) in found.key.enumerated() { key[index] = byte }
    return CUnsignedInt(found.key.count)
}

func makeCookieCallback(
    _ ssl: OpaquePointer?, _ cookie: UnsafeMutablePointer<UInt8>?, _ count: UnsafeMutablePointer<CUnsignedInt>?
) -> CInt {
    guard case .server(let own)? = OpenSSLEngine.of(ssl)?.role, let cookie, let count else { return 0 }
    for (index, byte) in own.enumerated() { cookie[index] = byte }
    count.pointee = CUnsignedInt(own.count)
    return 1
}

func checkCookieCallback(_ ssl: OpaquePointer?, _ cookie: UnsafePointer<UInt8>?, _ count: CUnsignedInt) -> CInt {
    guard case .server(let own)? = OpenSSLEngine.of(ssl)?.role, let cookie else { return 0 }
    return UnsafeBufferPointer(start: cookie, count: Int(count)).elementsEqual(own) ? 1 : 0
}

func timerCallback(_ ssl: OpaquePointer?, _ previous: CUnsignedInt) -> CUnsignedInt {
    OpenSSLEngine.of(ssl)?.nextTimeout(after: previous) ?? 1_000_000
}

private func strlen(_ text: UnsafePointer<CChar>) -> Int {
    var count = 0
    while text[count] != 0 { count += 1 }
    return count
}
