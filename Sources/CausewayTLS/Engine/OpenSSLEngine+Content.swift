internal import CCausewayLibraries

extension OpenSSLEngine {
    // MARK: Ciphertext

    package func ciphertextArrived<R>(_ bytes: UnsafeRawBufferPointer, _ body: () -> R) -> R {
        precondition(borrowedBuffer == .none, "ciphertextArrived was called while a buffer is borrowed")
        borrowedBuffer = .ofCaller
        if !bytes.isEmpty { reading.reopen() }
        defer { borrowedBuffer = .none }
        cw_pipe_lend(pipe, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        let result = body()
        let isKept = cw_pipe_settle(pipe, usesDatagrams ? Self.unreadDatagramLimit : Self.unreadLimit)
        // Datagrams may be dropped if not all unread bytes can be kept. For a stream, lost bytes are an error.
        if !isKept, !usesDatagrams { fail(TLSFailure(.library, "too much unread ciphertext")) }
        return result
    }

    package func ciphertextEnded() {
        reading.reopen()
        cw_pipe_end(pipe)
    }

    package func sendCiphertext(_ body: (UnsafeRawBufferPointer) -> Int) {
        checkPipeBufferIsNotBorrowed()
        let outer = borrowedBuffer
        borrowedBuffer = .ofPipe
        defer { borrowedBuffer = outer }
        while true {
            var count = 0
            guard let bytes = cw_pipe_outgoing(pipe, &count) else { return }
            let sent = body(UnsafeRawBufferPointer(start: bytes, count: count))
            guard sent > 0 else { return }
            cw_pipe_sent(pipe, min(sent, count))
            guard usesDatagrams || sent >= count else { return }
        }
    }

    package var unsentCount: Int { cw_pipe_unsent(pipe) }

    // MARK: Reading

    package var mayHavePlaintext: Bool {
        if case .drained = reading { false } else { true }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSReadResult {
        checkPipeBufferIsNotBorrowed()
        guard !buffer.isEmpty else { return .bytes(0) }
        guard case .established = state else { return reading.end ?? .needsCiphertext }
        if case .received = earlyData, let count = earlyData.takeInput(into: buffer) { return .bytes(count) }
        if let end = reading.end { return end }
        var filled = 0
        OpenSSLLibrary.forgetErrors()
        repeat {
            var count = 0
            let result = cw_SSL_read_ex(ssl, buffer.baseAddress! + filled, buffer.count - filled, &count)
            guard result == 1 else {
                let end = endOfRead(result)
                if filled == 0 { return end }
                break
            }
            filled += count
        } while filled < buffer.count && !usesDatagrams && !checkIsDrained()
        return .bytes(filled)
    }

    /// Returns whether no received data is left to read, and stores the result. Another read call would also show this,
    /// but it costs as much as reading a small record.
    private func checkIsDrained() -> Bool {
        let isDrained = cw_pipe_is_dry(pipe) && cw_SSL_has_pending(ssl) == 0
        reading = isDrained ? .drained : .open
        return isDrained
    }

    /// Returns the reason why a read returned no data, and stores it.
    private func endOfRead(_ result: CInt) -> TLSReadResult {
        switch Int(cw_SSL_get_error(ssl, result)) {
        case CW_ERROR_WANT_READ, CW_ERROR_WANT_WRITE: reading = .drained
        case CW_ERROR_ZERO_RETURN: reading = .ended
        case CW_ERROR_SYSCALL where cw_ERR_peek_error() == 0:
            reading = .failed(
                TLSFailure(.truncated, "the connection ended without close_notify: content may be missing"))
        default: reading = .failed(TLSFailure.takeFromLibrary(isInHandshake: false))
        }
        return reading.end ?? .needsCiphertext
    }

    // MARK: Writing

    package func write(_ plaintext: UnsafeRawBufferPointer) throws(TLSFailure) -> Int {
        checkPipeBufferIsNotBorrowed()
        switch state {
        case .starting, .handshaking, .awaitingTrust, .awaitingIdentity: return 0
        case .failed(let failure): throw failure
        case .established: break
        }
        if case .closed = writing { throw TLSFailure(.closed, "write after close") }
        if case .failed(let failure) = reading { throw failure }
        guard !plaintext.isEmpty else { return 0 }
        if usesDatagrams, plaintext.count > cw_DTLS_get_data_mtu(ssl) {
            throw TLSFailure(.messageTooLong, "\(plaintext.count) bytes do not fit in one datagram")
        }
        OpenSSLLibrary.forgetErrors()
        var taken = 0
        while taken < plaintext.count, cw_pipe_unsent(pipe) < Self.unsentLimit {
            var count = 0
            let result = cw_SSL_write_ex(ssl, plaintext.baseAddress! + taken, plaintext.count - taken, &count)
            guard result == 1 else {
                if taken > 0 { break }
                throw failureOfWrite(result)
            }
            taken += count
            countRecord()
        }
        return taken
    }

    /// Counts one record. The engine calls this after each successful write, because each such write produces one
    /// record. After the maximum number of records per key, this method updates the key. TLS 1.2 and DTLS cannot update
    /// keys.
    private func countRecord() {
        guard case .open(let count) = writing else { return }
        guard count <= 1 else {
            writing = .open(recordsUntilKeyUpdate: count - 1)
            return
        }
        writing = .open(recordsUntilKeyUpdate: WriteSide.maximumRecordsPerKey)
        guard !usesDatagrams, cw_SSL_version(ssl) == CInt(CW_TLS1_3) else { return }
        // Schedule a KeyUpdate message. OpenSSL sends it with the next record.
        cw_SSL_key_update(ssl, 0)
    }

    private func failureOfWrite(_ result: CInt) -> TLSFailure {
        _ = cw_SSL_get_error(ssl, result)
        let failure = TLSFailure.takeFromLibrary(isInHandshake: false)
        fail(failure)
        return failure
    }

    package func close() {
        checkPipeBufferIsNotBorrowed()
        if case .closed = writing { return }
        writing = .closed
        guard case .established = state else { return }
        // After a fatal error, nothing more may be sent (RFC 8446 §6.2).
        if case .failed = reading { return }
        cw_ERR_clear_error()
        cw_SSL_shutdown(ssl)
        cw_ERR_clear_error()
    }

    // MARK: Time

    package var timeout: Duration? {
        guard usesDatagrams else { return nil }
        // The members of a C `timeval`.
        var remaining = (seconds: 0, microseconds: 0)
        guard cw_SSL_ctrl(ssl, CInt(CW_CTRL_DTLS_GET_TIMEOUT), 0, &remaining) == 1 else { return nil }
        return .seconds(remaining.seconds) + .microseconds(remaining.microseconds)
    }

    package func timeoutElapsed() -> TLSProgress {
        guard usesDatagrams else { return handshake() }
        if case .failed(let failure) = state { return .failed(failure) }
        reading.reopen()
        cw_ERR_clear_error()
        if cw_SSL_ctrl(ssl, CInt(CW_CTRL_DTLS_HANDLE_TIMEOUT), 0, nil) < 0 {
            return fail(TLSFailure.takeFromLibrary(isInHandshake: true))
        }
        return handshake()
    }
}
