internal import Causeway
internal import Dispatch
internal import Foundation

/// The transport of control links, and of connections that carry the bytes of resources. It is TLS 1.3 over TCP, with
/// certificates on both sides.
enum PeerTransport {
    /// The application protocol (ALPN, RFC 7301).
    static let applicationProtocol = "cw-peers/1"
    private static let exporterLabel = "EXPORTER-cw-peers/1"
    /// Seconds without an acknowledgement after which the kernel ends a connection. `PeerMesh` reports a silent peer
    /// earlier.
    private static let dropTime = 11

    /// Parameters for a dialled or accepted link.
    ///
    /// - Parameters:
    ///   - queue: The queue for certificate checks.
    ///   - accepts: Returns whether a peer with this public key (SubjectPublicKeyInfo) is accepted. The handshake
    ///     proves that the peer has the private key; names and dates in certificates do not matter.
    static func parameters(
        _ local: LocalPeer, queue: DispatchQueue, accepts: @escaping @Sendable ([UInt8]) -> Bool
    ) -> NWParameters {
        let tls = NWProtocolTLS.Options()
        let security = tls.securityProtocolOptions
        if let identity = sec_identity_create(local.identity) {
            sec_protocol_options_set_local_identity(security, identity)
        }
        sec_protocol_options_set_min_tls_protocol_version(security, .TLSv13)
        sec_protocol_options_add_tls_application_protocol(security, applicationProtocol)
        sec_protocol_options_set_peer_authentication_required(security, true)
        sec_protocol_options_set_tls_resumption_enabled(security, false)
        sec_protocol_options_set_verify_block(
            security,
            { _, trust, complete in
                let reference = sec_trust_copy_ref(trust).takeRetainedValue()
                let chain = SecTrustCopyCertificateChain(reference) as? [SecCertificate]
                let key = chain?.first.flatMap { PeerKeyPair.publicKey(ofCertificate: der($0)) }
                complete(key.map(accepts) ?? false)
            }, queue)
        let tcp = NWProtocolTCP.Options()
        tcp.noDelay = true
        tcp.connectionDropTime = dropTime
        tcp.connectionTimeout = 10
        let parameters = NWParameters(tls: tls, tcp: tcp)
        parameters.includePeerToPeer = true
        return parameters
    }

    private static func der(_ certificate: SecCertificate) -> [UInt8] {
        [UInt8](SecCertificateCopyData(certificate) as Data)
    }

    /// Properties of an established TLS session.
    struct Session: Sendable {
        /// The other side's certificates in DER, its own first.
        let certificates: [[UInt8]]
        /// 32 bytes known only to the two ends of this connection (RFC 8446 §7.5).
        let exporter: [UInt8]
    }

    /// Returns an established connection's session; `nil` unless both sides have certificates and agreed on the protocol.
    static func session(of connection: NWConnection) -> Session? {
        guard
            let metadata = connection.metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata,
            let name = sec_protocol_metadata_get_negotiated_protocol(metadata.securityProtocolMetadata),
            String(cString: name) == applicationProtocol
        else { return nil }
        let found = Certificates()
        sec_protocol_metadata_access_peer_certificate_chain(metadata.securityProtocolMetadata) { certificate in
            found.all.append(der(sec_certificate_copy_ref(certificate).takeRetainedValue()))
        }
        let secret = exporterLabel.withCString {
            sec_protocol_metadata_create_secret(
                metadata.securityProtocolMetadata, exporterLabel.utf8.count, $0, 32)
        }
        guard let secret, !found.all.isEmpty else { return nil }
        return Session(certificates: found.all, exporter: [UInt8](secret as DispatchData))
    }

    private final class Certificates {
        var all: [[UInt8]] = []
    }
}
