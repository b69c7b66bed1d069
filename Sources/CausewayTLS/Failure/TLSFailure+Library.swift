internal import CCausewayLibraries

extension TLSFailure {
    /// Converts this thread's OpenSSL errors to a failure, and empties the error queue.
    ///
    /// For a damaged record, OpenSSL queues a cipher error and then a protocol error. The protocol error is used.
    static func takeFromLibrary(isInHandshake: Bool) -> TLSFailure {
        var first: UInt?
        while case let number = cw_ERR_get_error(), number != 0 {
            if number >> 23 & 0xff == UInt(CW_LIBRARY_SSL) {
                cw_ERR_clear_error()
                return from(
                    Int(number & 0x7f_ffff), reason: OpenSSLLibrary.reason(number), isInHandshake: isInHandshake)
            }
            first = first ?? number
        }
        return TLSFailure(.library, first.map(OpenSSLLibrary.reason) ?? "OpenSSL reports no reason")
    }

    /// Converts a reason number. Numbers from 1000 to 1255 are alerts from the peer.
    private static func from(_ number: Int, reason: String, isInHandshake: Bool) -> TLSFailure {
        if let alert = UInt8(exactly: number - 1_000) {
            return TLSFailure(.alert(alert), "the peer sent a fatal alert: \(name(ofAlert: alert))")
        }
        switch Reason(rawValue: number) {
        case .unexpectedEnd:
            return isInHandshake
                ? TLSFailure(.endedInHandshake, "the peer closed the connection during the handshake")
                : TLSFailure(.truncated, "the connection ended without close_notify: content may be missing")
        case .noCertificate: return TLSFailure(.certificateRequired, "the peer sent no certificate")
        case .noProtocolsLeft, .unsupportedProtocol, .wrongVersion, .versionTooLow, .badVersion:
            return TLSFailure(.version, "no common TLS version, or the peer does not use TLS: \(reason)")
        case .plainRequest, .proxyRequest: return TLSFailure(.protocolViolation, "the peer uses HTTP without TLS")
        case .noSharedCipher, .noCiphers, .noCommonGroup, .noCommonSignature, .wrongCipher, .noSuitableKeyShare:
            return TLSFailure(.negotiation, "no common parameters with the peer: \(reason)")
        case .noApplicationProtocol:
            return TLSFailure(.applicationProtocol, "no common application protocol")
        case .badRecord, .digestCheck: return TLSFailure(.badRecord, "a record is forged or damaged: \(reason)")
        case .readTimeout: return TLSFailure(.timedOut, "the peer did not answer the handshake")
        case .messageTooLong: return TLSFailure(.messageTooLong, "the message does not fit in one datagram")
        case nil: return TLSFailure(.protocolViolation, reason)
        }
    }

    /// OpenSSL's reason numbers that this code maps to a specific error code or message. All other reason numbers
    /// become a protocol violation.
    private enum Reason: Int {
        case badVersion = 116
        case digestCheck = 149
        case plainRequest = 156
        case proxyRequest = 155
        case noCiphers = 181
        case noSharedCipher = 193
        case noCertificate = 199
        case noProtocolsLeft = 191
        case noApplicationProtocol = 235
        case unsupportedProtocol = 258
        case wrongCipher = 261
        case wrongVersion = 267
        case badRecord = 281
        case unexpectedEnd = 294
        case readTimeout = 312
        case messageTooLong = 334
        case noCommonSignature = 118
        case noCommonGroup = 410
        case noSuitableKeyShare = 101
        case versionTooLow = 396
    }
}
