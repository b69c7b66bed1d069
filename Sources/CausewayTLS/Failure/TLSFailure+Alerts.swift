internal import CausewayTypes

extension TLSFailure {
    /// Returns Apple's status code, such as `errSSLPeerBadCert`, for an alert from the peer (RFC 8446 §6).
    static func status(ofAlert number: UInt8) -> OSStatus { alerts[number]?.status ?? errSSLFatalAlert }

    /// Returns the alert's name in RFC 8446 §6, with spaces.
    static func name(ofAlert number: UInt8) -> String { alerts[number]?.name ?? "alert \(number)" }

    private static let alerts: [UInt8: (name: String, status: OSStatus)] = [
        0: ("close notify", errSSLClosedGraceful),
        10: ("unexpected message", errSSLPeerUnexpectedMsg),
        20: ("bad record mac", errSSLPeerBadRecordMac),
        21: ("decryption failed", errSSLPeerDecryptionFail),
        22: ("record overflow", errSSLPeerRecordOverflow),
        30: ("decompression failure", errSSLPeerDecompressFail),
        40: ("handshake failure", errSSLPeerHandshakeFail),
        42: ("bad certificate", errSSLPeerBadCert),
        43: ("unsupported certificate", errSSLPeerUnsupportedCert),
        44: ("certificate revoked", errSSLPeerCertRevoked),
        45: ("certificate expired", errSSLPeerCertExpired),
        46: ("certificate unknown", errSSLPeerCertUnknown),
        47: ("illegal parameter", errSSLIllegalParam),
        48: ("unknown CA", errSSLPeerUnknownCA),
        49: ("access denied", errSSLPeerAccessDenied),
        50: ("decode error", errSSLPeerDecodeError),
        51: ("decrypt error", errSSLPeerDecryptError),
        60: ("export restriction", errSSLPeerExportRestriction),
        70: ("protocol version", errSSLPeerProtocolVersion),
        71: ("insufficient security", errSSLPeerInsufficientSecurity),
        80: ("internal error", errSSLPeerInternalError),
        86: ("inappropriate fallback", errSSLInappropriateFallback),
        90: ("user canceled", errSSLPeerUserCancelled),
        100: ("no renegotiation", errSSLPeerNoRenegotiation),
        109: ("missing extension", errSSLMissingExtension),
        110: ("unsupported extension", errSSLUnsupportedExtension),
        112: ("unrecognized name", errSSLUnrecognizedName),
        113: ("bad certificate status response", errSSLBadCertificateStatusResponse),
        115: ("unknown PSK identity", errSSLUnknownPSKIdentity),
        116: ("certificate required", errSSLCertificateRequired),
        120: ("no application protocol", errSSLNegotiation),
    ]
}
