internal import CCausewayLibraries

extension OpenSSLEngine {
    package func handshake() -> TLSProgress {
        switch state {
        case .awaitingTrust(let trust): return .evaluateTrust(trust)
        case .awaitingIdentity(let challenge): return .chooseIdentity(challenge)
        case .established: return .established
        case .failed(let failure): return .failed(failure)
        case .starting, .handshaking: return step()
        }
    }

    package var mayEvaluatePeer: Bool {
        switch state {
        case .handshaking: settings.peerAuthentication != .none || isClient
        case .starting, .awaitingTrust, .awaitingIdentity, .established, .failed: false
        }
    }

    package var waitsForPeer: Bool { !isClient }

    private func step() -> TLSProgress {
        checkPipeBufferIsNotBorrowed()
        defer { if case .starting = state, cw_pipe_unsent(pipe) > 0 { state = .handshaking } }
        if case .closed = writing { return fail(TLSFailure(.closed, "closed before the handshake was complete")) }
        cw_ERR_clear_error()
        if let progress = moveEarlyData() { return progress }
        let result = cw_SSL_do_handshake(ssl)
        guard result == 1 else { return interpret(result) }
        // On a server, the handshake may be complete before the engine's owner has validated the client. Content must
        // wait until the client is validated.
        if case .awaitingTrust(let trust) = state { return .evaluateTrust(trust) }
        state = .established
        // Remove the message callback. Only the handshake needs it, and OpenSSL would now call it for every record.
        cw_SSL_set_msg_callback(ssl, nil)
        resendEarlyDataIfRejected()
        return .established
    }

    /// Interprets the error from a handshake call.
    private func interpret(_ result: CInt) -> TLSProgress {
        switch Int(cw_SSL_get_error(ssl, result)) {
        case CW_ERROR_WANT_RETRY_VERIFY, CW_ERROR_WANT_READ, CW_ERROR_WANT_X509_LOOKUP: return pause
        case CW_ERROR_ZERO_RETURN:
            return fail(TLSFailure(.endedInHandshake, "the peer closed the connection during the handshake"))
        case CW_ERROR_SYSCALL where cw_ERR_peek_error() == 0:
            return fail(TLSFailure(.endedInHandshake, "the connection ended during the handshake"))
        default:
            let reported = TLSFailure.takeFromLibrary(isInHandshake: true)
            if case .rejected(let failure) = peerDecision { return fail(failure) }
            return fail(reported)
        }
    }

    /// The event that the paused handshake waits for.
    private var pause: TLSProgress {
        switch state {
        case .awaitingTrust(let trust): .evaluateTrust(trust)
        case .awaitingIdentity(let challenge): .chooseIdentity(challenge)
        case .starting, .handshaking, .established: .needsCiphertext
        case .failed(let failure): .failed(failure)
        }
    }

    @discardableResult
    func fail(_ failure: TLSFailure) -> TLSProgress {
        state = .failed(failure)
        reading = .failed(failure)
        cw_pipe_discard(pipe)
        return .failed(failure)
    }

    package func trustEvaluated(isTrusted: Bool) {
        guard case .awaitingTrust(let trust) = state else { return }
        state = .handshaking
        cw_pipe_hold(pipe, false)
        guard !isTrusted else {
            peerDecision = .acceptedByOwner(trust)
            return
        }
        let failure = TLSFailure(.refused, "the program rejected the peer's certificates")
        peerDecision = .rejected(failure)
        // A client's handshake is still paused. The client's next `handshake()` call passes the rejection to OpenSSL,
        // which sends the alert. A server's handshake has already continued, so a server can send at most a
        // close_notify.
        guard !isClient else { return }
        if cw_SSL_in_init(ssl) == 0 { cw_SSL_shutdown(ssl) }
        cw_ERR_clear_error()
        fail(failure)
    }

    package func identityChosen(_ identity: TLSIdentity?) {
        guard case .awaitingIdentity = state else { return }
        didChooseIdentity = true
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
        guard isClient, settings.isEarlyDataEnabled, case .starting = state, let session = cw_SSL_get_session(ssl)
        else {
            return 0
        }
        return min(Int(cw_SSL_SESSION_get_max_early_data(session)), Self.maximumEarlyData) - earlyData.outputCount
    }

    package func writeEarly(_ plaintext: UnsafeRawBufferPointer) -> Bool {
        guard plaintext.count <= earlyDataLimit else { return false }
        if !plaintext.isEmpty { earlyData.appendOutput(plaintext) }
        return true
    }

    /// Sends or reads early data. Returns `nil` if the handshake can continue.
    private func moveEarlyData() -> TLSProgress? {
        switch earlyData {
        case .none, .received: nil
        case .sending(let bytes, let sentCount): sendEarly(bytes, from: sentCount)
        case .receiving: readEarly()
        }
    }

    private func sendEarly(_ bytes: [UInt8], from start: Int) -> TLSProgress? {
        var sentCount = start
        while sentCount < bytes.count {
            var count = 0
            let result = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sentCount...])
                return cw_SSL_write_early_data(ssl, rest.baseAddress, rest.count, &count)
            }
            guard result == 1 else { return interpret(result) }
            sentCount += count
            earlyData = .sending(bytes, sentCount: sentCount)
        }
        return nil
    }

    private func resendEarlyDataIfRejected() {
        let output = earlyData.takeOutput()
        guard !output.isEmpty, cw_SSL_get_early_data_status(ssl) != CInt(CW_EARLY_DATA_ACCEPTED) else { return }
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
            case CW_READ_EARLY_SUCCESS: earlyData.appendInput(block[..<count])
            case CW_READ_EARLY_FINISH:
                earlyData.endInput()
                return nil
            default: return interpret(0)
            }
        }
    }
}
