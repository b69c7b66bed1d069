internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

extension PeerTransport {
    /// The cipher suites for datagrams: ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256 (RFC 7905 §2) and
    /// PSK_WITH_AES_128_GCM_SHA256 (RFC 5487 §3.1).
    ///
    /// With these suites, both ends of a DTLS connection prove that they know the shared key. A suite that uses
    /// certificates would not prove this.
    private static let datagramSuites: [UInt16] = [0xccac, 0x00a8]

    /// Parameters for both ends of a connection for unreliable messages: DTLS 1.2 with a pre-shared key over UDP.
    static func datagramParameters(_ secret: DatagramSecret) -> NWParameters {
        let tls = NWProtocolTLS.Options()
        let security = tls.securityProtocolOptions
        sec_protocol_options_add_pre_shared_key(security, dispatchData(secret.key), dispatchData(secret.identity))
        for number in datagramSuites {
            if let suite = tls_ciphersuite_t(rawValue: number) {
                sec_protocol_options_append_tls_ciphersuite(security, suite)
            }
        }
        sec_protocol_options_set_min_tls_protocol_version(security, .DTLSv12)
        sec_protocol_options_set_tls_resumption_enabled(security, false)
        let parameters = NWParameters(dtls: tls, udp: NWProtocolUDP.Options())
        parameters.includePeerToPeer = true
        return parameters
    }

    /// Returns whether an established DTLS connection uses one of the cipher suites with the pre-shared key.
    static func isKeyed(_ connection: NWConnection) -> Bool {
        guard let metadata = connection.metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata else {
            return false
        }
        let suite = sec_protocol_metadata_get_negotiated_tls_ciphersuite(metadata.securityProtocolMetadata)
        return datagramSuites.contains(suite.rawValue)
    }

    private static func dispatchData(_ bytes: [UInt8]) -> DispatchData {
        bytes.withUnsafeBytes { DispatchData(bytes: $0) }
    }
}
