internal import CCausewayOpenSSL

extension OpenSSLEngine {
    package func handshake() -> TLSProgress {
        switch state {
        case .awaitingTrust(let trust): return .evaluateTrust(trust)
        case .awaitingIdentity(let challenge): return .chooseIdentity(challenge)
        case .established: return .established
        case .failed(let failure): return .failed(failure)
        case .handshaking: return step()
        }
    }

    package var mayEvaluatePeer: Bool {
        guard hasSpoken, settings.peerAuthentication != .none || isClient else { return false }
        switch state {
        case .handshaking: return true
        case .awaitingTrust, .awaitingIdentity, .established, .failed: return false
        }
    }

    package var waitsForPeer: Bool { !isClient }

    private func step() -> TLSProgress {
        checkIsNotShowing()
        defer { if !hasSpoken { hasSpoken = cw_pipe_unsent(pipe) > 0 } }
        guard !isClosed else { return fail(TLSFailure(.closed, "closed before the handshake was complete")) }
        cw_ERR_clear_error()
        if isReadingEarly, let progress = readEarly() { return progress }
        if earlyOutputSent < earlyOutput.count, let progress = sendEarly() { return progress }
        let result = cw_SSL_do_handshake(ssl)
        guard result == 1 else { return interpret(result) }
        // A server's handshake may be complete before the engine's owner has validated the client. Content must wait for the result.
        if let trust = pendingTrust, verdict == nil {
            state = .awaitingTrust(trust)
            return .evaluateTrust(trust)
        }
        state = .established
        // Remove the message callback: only the handshake needs it, and OpenSSL would now call it for every record.
        cw_SSL_set_msg_callback(ssl, nil)
        repeatEarlyIfRefused()
        return .established
    }

    /// Interprets the error from a handshake call.
    private func interpret(_ result: CInt) -> TLSProgress {
        switch Int(cw_SSL_get_error(ssl, result)) {
        case CW_ERROR_WANT_RETRY_VERIFY, CW_ERROR_WANT_READ:
            guard let trust = pendingTrust, verdict == nil else { return .needsCiphertext }
            state = .awaitingTrust(trust)
            return .evaluateTrust(trust)
        case CW_ERROR_WANT_X509_LOOKUP:
            let challenge = pendingChallenge ?? TLSChallenge(authorities: [], signatureSchemes: [])
            state = .awaitingIdentity(challenge)
            return .chooseIdentity(challenge)
        case CW_ERROR_ZERO_RETURN:
            return fail(TLSFailure(.endedInHandshake, "the peer closed the connection during the handshake"))
        case CW_ERROR_SYSCALL where cw_ERR_peek_error() == 0:
            return fail(TLSFailure(.endedInHandshake, "the connection ended during the handshake"))
        default:
            let reported = TLSFailure.takeFromLibrary(isInHandshake: true)
            return fail(pendingFailure ?? reported)
        }
    }

    @discardableResult
    func fail(_ failure: TLSFailure) -> TLSProgress {
        state = .failed(failure)
        readEnd = .failed(failure)
        isDry = false
        cw_pipe_discard(pipe)
        return .failed(failure)
    }

    package func trustEvaluated(isTrusted: Bool) {
        guard case .awaitingTrust = state else { return }
        verdict = isTrusted
        state = .handshaking
        cw_pipe_hold(pipe, false)
        guard !isTrusted else { return }
        let failure = TLSFailure(.refused, "the program rejected the peer's certificates")
        pendingFailure = failure
        // A client's handshake is still paused: the next call passes the rejection to OpenSSL, which sends the alert. A server's handshake
        // has already continued, so at most a close_notify can be sent.
        guard !isClient else { return }
        if cw_SSL_in_init(ssl) == 0 { cw_SSL_shutdown(ssl) }
        cw_ERR_clear_error()
        fail(failure)
    }

    package func identityChosen(_ identity: TLSIdentity?) {
        guard case .awaitingIdentity = state else { return }
        hasChosenIdentity = true
        state = .handshaking
        guard let identity else { return }
        let isSet = withStack(of: Array(identity.certificates.dropFirst())) { others in
            cw_SSL_use_cert_and_key(
                ssl, identity.certificates[0].object.pointer, identity.key.pointer, others, 1) == 1
        }
        guard !isSet else { return }
        fail(TLSFailure(.badConfiguration, "the identity cannot be used: \(OpenSSLLibrary.takeReason())"))
    }

    // MARK: Early data

    package var earlyDataLimit: Int {
        guard isClient, settings.isEarlyDataEnabled, case .handshaking = state,
            let session = cw_SSL_get_session(ssl), earlyOutputSent == 0
        else { return 0 }
        return min(Int(cw_SSL_SESSION_get_max_early_data(session)), Self.maximumEarlyData) - earlyOutput.count
    }

    package func writeEarly(_ plaintext: UnsafeRawBufferPointer) -> Bool {
        guard plaintext.count <= earlyDataLimit else { return false }
        earlyOutput += plaintext
        return true
    }

    private func sendEarly() -> TLSProgress? {
        while earlyOutputSent < earlyOutput.count {
            var count = 0
            let result = earlyOutput.withUnsafeBytes { bytes in
                let rest = bytes[earlyOutputSent...]
                return cw_SSL_write_early_data(
                    ssl, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, &count)
            }
            guard result == 1 else { return interpret(result) }
            earlyOutputSent += count
        }
        return nil
    }

    private func repeatEarlyIfRefused() {
        guard isClient, !earlyOutput.isEmpty else { return }
        let isAccepted = cw_SSL_get_early_data_status(ssl) == CInt(CW_EARLY_DATA_ACCEPTED)
        let output = earlyOutput
        earlyOutput = []
        guard !isAccepted else { return }
        output.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                guard let count = try? write(UnsafeRawBufferPointer(rebasing: rest)), count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Reads early data before the handshake ends, up to the maximum announced by the server.
    private func readEarly() -> TLSProgress? {
        var block = [UInt8](repeating: 0, count: 16_384)
        while true {
            var count = 0
            let result = cw_SSL_read_early_data(ssl, &block, block.count, &count)
            switch Int(result) {
            case CW_READ_EARLY_SUCCESS: earlyInput += block[..<count]
            case CW_READ_EARLY_FINISH:
                isReadingEarly = false
                return nil
            default: return interpret(0)
            }
        }
    }
}
