// The error numbers of Secure Transport. TLS failures have these numbers as `OSStatus`.

/// The peer violated the protocol.
public let errSSLProtocol: OSStatus = -9800
/// No cipher suite in common.
public let errSSLNegotiation: OSStatus = -9801
/// The peer sent a fatal alert.
public let errSSLFatalAlert: OSStatus = -9802
/// The operation would block.
public let errSSLWouldBlock: OSStatus = -9803
/// An attempt to resume an unknown session.
public let errSSLSessionNotFound: OSStatus = -9804
/// Connection closed gracefully.
public let errSSLClosedGraceful: OSStatus = -9805
/// Connection closed by an error.
public let errSSLClosedAbort: OSStatus = -9806
/// Invalid certificate chain.
public let errSSLXCertChainInvalid: OSStatus = -9807
/// Bad certificate format.
public let errSSLBadCert: OSStatus = -9808
/// Failure in the cryptographic library.
public let errSSLCrypto: OSStatus = -9809
/// Internal error.
public let errSSLInternal: OSStatus = -9810
/// A cryptographic module could not be loaded.
public let errSSLModuleAttach: OSStatus = -9811
/// Valid certificate chain with an untrusted root.
public let errSSLUnknownRootCert: OSStatus = -9812
/// The certificate chain does not end in a root.
public let errSSLNoRootCert: OSStatus = -9813
/// A certificate in the chain has expired.
public let errSSLCertExpired: OSStatus = -9814
/// A certificate in the chain is not yet valid.
public let errSSLCertNotYetValid: OSStatus = -9815
/// Connection closed without notice.
public let errSSLClosedNoNotify: OSStatus = -9816
/// Buffer too small.
public let errSSLBufferOverflow: OSStatus = -9817
/// Bad cipher suite.
public let errSSLBadCipherSuite: OSStatus = -9818
/// The peer received an unexpected message.
public let errSSLPeerUnexpectedMsg: OSStatus = -9819
/// The peer received a record that fails authentication.
public let errSSLPeerBadRecordMac: OSStatus = -9820
/// The peer could not decrypt a record.
public let errSSLPeerDecryptionFail: OSStatus = -9821
/// The peer received an oversized record.
public let errSSLPeerRecordOverflow: OSStatus = -9822
/// The peer could not decompress a record.
public let errSSLPeerDecompressFail: OSStatus = -9823
/// The peer could not agree on parameters.
public let errSSLPeerHandshakeFail: OSStatus = -9824
/// The peer considers our certificate malformed.
public let errSSLPeerBadCert: OSStatus = -9825
/// The peer does not support our type of certificate.
public let errSSLPeerUnsupportedCert: OSStatus = -9826
/// The peer considers our certificate revoked.
public let errSSLPeerCertRevoked: OSStatus = -9827
/// The peer considers our certificate expired.
public let errSSLPeerCertExpired: OSStatus = -9828
/// The peer rejects our certificate for another reason.
public let errSSLPeerCertUnknown: OSStatus = -9829
/// Illegal parameter.
public let errSSLIllegalParam: OSStatus = -9830
/// The peer does not know our certificate authority.
public let errSSLPeerUnknownCA: OSStatus = -9831
/// The peer denied access.
public let errSSLPeerAccessDenied: OSStatus = -9832
/// The peer could not decode a message.
public let errSSLPeerDecodeError: OSStatus = -9833
/// The peer found an invalid handshake signature or hash.
public let errSSLPeerDecryptError: OSStatus = -9834
/// The peer reported an export restriction.
public let errSSLPeerExportRestriction: OSStatus = -9835
/// Bad protocol version.
public let errSSLPeerProtocolVersion: OSStatus = -9836
/// The peer requires stronger security.
public let errSSLPeerInsufficientSecurity: OSStatus = -9837
/// The peer had an internal error.
public let errSSLPeerInternalError: OSStatus = -9838
/// The peer cancelled the handshake.
public let errSSLPeerUserCancelled: OSStatus = -9839
/// The peer refuses renegotiation.
public let errSSLPeerNoRenegotiation: OSStatus = -9840
/// The peer's certificate waits for validation by the program.
public let errSSLPeerAuthCompleted: OSStatus = -9841
/// The server requested a client certificate.
public let errSSLClientCertRequested: OSStatus = -9842
/// The certificate is not for this host name.
public let errSSLHostNameMismatch: OSStatus = -9843
/// The peer closed the connection before the handshake.
public let errSSLConnectionRefused: OSStatus = -9844
/// Decryption failure.
public let errSSLDecryptionFail: OSStatus = -9845
/// Record authentication failure.
public let errSSLBadRecordMac: OSStatus = -9846
/// Record overflow.
public let errSSLRecordOverflow: OSStatus = -9847
/// Bad configuration.
public let errSSLBadConfiguration: OSStatus = -9848
/// Unexpected record.
public let errSSLUnexpectedRecord: OSStatus = -9849
/// The peer's ephemeral key is weak.
public let errSSLWeakPeerEphemeralDHKey: OSStatus = -9850
/// The handshake has received the client hello, and the program must evaluate it.
public let errSSLClientHelloReceived: OSStatus = -9851
/// The transport connection was reset.
public let errSSLTransportReset: OSStatus = -9852
/// The network timed out.
public let errSSLNetworkTimeout: OSStatus = -9853
/// Configuration failed.
public let errSSLConfigurationFailed: OSStatus = -9854
/// Unsupported extension.
public let errSSLUnsupportedExtension: OSStatus = -9855
/// Unexpected message.
public let errSSLUnexpectedMessage: OSStatus = -9856
/// Decompression failure.
public let errSSLDecompressFail: OSStatus = -9857
/// Handshake failure.
public let errSSLHandshakeFail: OSStatus = -9858
/// Decoding error.
public let errSSLDecodeError: OSStatus = -9859
/// Inappropriate fallback.
public let errSSLInappropriateFallback: OSStatus = -9860
/// Missing extension.
public let errSSLMissingExtension: OSStatus = -9861
/// Bad certificate status response.
public let errSSLBadCertificateStatusResponse: OSStatus = -9862
/// A client certificate is required.
public let errSSLCertificateRequired: OSStatus = -9863
/// Unknown pre-shared key identity.
public let errSSLUnknownPSKIdentity: OSStatus = -9864
/// Unrecognized server name.
public let errSSLUnrecognizedName: OSStatus = -9865
/// The connection violates the transport policy.
public let errSSLATSViolation: OSStatus = -9880
/// The protocol version is below the policy's minimum.
public let errSSLATSMinimumVersionViolation: OSStatus = -9881
/// The cipher suite violates the transport policy.
public let errSSLATSCiphersuiteViolation: OSStatus = -9882
/// A key is smaller than the policy's minimum.
public let errSSLATSMinimumKeySizeViolation: OSStatus = -9883
/// The server certificate's hash violates the transport policy.
public let errSSLATSLeafCertificateHashAlgorithmViolation: OSStatus = -9884
/// A certificate's hash violates the transport policy.
public let errSSLATSCertificateHashAlgorithmViolation: OSStatus = -9885
/// The certificate is not trusted as the transport policy requires.
public let errSSLATSCertificateTrustViolation: OSStatus = -9886
/// Early data was rejected.
public let errSSLEarlyDataRejected: OSStatus = -9890

/// The descriptions of the codes, for logs.
enum TLSStatusText {
    static let table: [OSStatus: String] = [
        -9800: "the peer violated the protocol",
        -9801: "no common cipher suite",
        -9802: "the peer sent a fatal alert",
        -9803: "the operation would block",
        -9804: "attempt to resume an unknown session",
        -9805: "connection closed gracefully",
        -9806: "connection closed by an error",
        -9807: "invalid certificate chain",
        -9808: "bad certificate format",
        -9809: "failure in the cryptographic library",
        -9810: "internal error",
        -9811: "a cryptographic module could not be loaded",
        -9812: "valid certificate chain with an untrusted root",
        -9813: "certificate chain not ending in a root",
        -9814: "a certificate in the chain has expired",
        -9815: "a certificate in the chain is not yet valid",
        -9816: "connection closed without notice",
        -9817: "buffer too small",
        -9818: "bad cipher suite",
        -9819: "the peer received an unexpected message",
        -9820: "the peer received a record that fails authentication",
        -9821: "the peer could not decrypt a record",
        -9822: "the peer received an oversized record",
        -9823: "the peer could not decompress a record",
        -9824: "the peer could not agree on parameters",
        -9825: "the peer considers our certificate malformed",
        -9826: "the peer does not support our type of certificate",
        -9827: "the peer considers our certificate revoked",
        -9828: "the peer considers our certificate expired",
        -9829: "the peer rejects our certificate",
        -9830: "illegal parameter",
        -9831: "the peer does not know our certificate authority",
        -9832: "the peer denied access",
        -9833: "the peer could not decode a message",
        -9834: "the peer found an invalid handshake signature or hash",
        -9835: "the peer reported an export restriction",
        -9836: "bad protocol version",
        -9837: "the peer requires stronger security",
        -9838: "the peer had an internal error",
        -9839: "the peer cancelled the handshake",
        -9840: "the peer refuses renegotiation",
        -9841: "the peer's certificate waits for validation",
        -9842: "the server requested a client certificate",
        -9843: "the certificate is not for this host name",
        -9844: "the peer closed before the handshake",
        -9845: "decryption failure",
        -9846: "record authentication failure",
        -9847: "record overflow",
        -9848: "bad configuration",
        -9849: "unexpected record",
        -9850: "the peer's ephemeral key is weak",
        -9851: "the client hello waits for evaluation",
        -9852: "the transport was reset",
        -9853: "the network timed out",
        -9854: "configuration failed",
        -9855: "unsupported extension",
        -9856: "unexpected message",
        -9857: "decompression failure",
        -9858: "handshake failure",
        -9859: "decoding error",
        -9860: "inappropriate fallback",
        -9861: "missing extension",
        -9862: "bad certificate status response",
        -9863: "a client certificate is required",
        -9864: "unknown pre-shared key identity",
        -9865: "unrecognized server name",
        -9880: "the connection violates the transport policy",
        -9881: "the protocol version is below the policy's minimum",
        -9882: "the cipher suite violates the transport policy",
        -9883: "a key is smaller than the policy's minimum",
        -9884: "the server certificate's hash violates the transport policy",
        -9885: "a certificate's hash violates the transport policy",
        -9886: "the certificate's trust violates the transport policy",
        -9890: "early data was rejected",
    ]
}
