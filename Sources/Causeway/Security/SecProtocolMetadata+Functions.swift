public import Dispatch
internal import FoundationEssentials

/// Returns the negotiated application protocol (RFC 7301 §3.2), or `nil` if none was negotiated. The pointer is valid as long as the
/// metadata object exists.
///
/// Counterpart: macOS 10.14, iOS 12; deprecated in macOS 15.5.
@discardableResult
public func sec_protocol_metadata_get_negotiated_protocol(
    _ metadata: sec_protocol_metadata_t
) -> UnsafePointer<CChar>? {
    metadata.values.applicationProtocol.map { metadata.lend($0) }
}

/// Returns the negotiated application protocol (RFC 7301 §3.2), or `nil` if none was negotiated. The caller must free the result.
///
/// Counterpart: macOS 15.5, iOS 18.5.
@discardableResult
public func sec_protocol_metadata_copy_negotiated_protocol(
    _ metadata: sec_protocol_metadata_t
) -> UnsafePointer<CChar>? {
    metadata.values.applicationProtocol?.makeCString()
}

/// Returns the peer's public key, or `nil` if the peer sent no certificate.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_copy_peer_public_key(_ metadata: sec_protocol_metadata_t) -> DispatchData? {
    metadata.values.peer.publicKey?.dispatchData
}

/// Returns the negotiated version. Before the handshake, the result is TLS 1.2, the default minimum version.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_protocol_metadata_get_negotiated_tls_protocol_version(
    _ metadata: sec_protocol_metadata_t
) -> tls_protocol_version_t {
    metadata.values.version ?? .TLSv12
}

/// The deprecated form of ``sec_protocol_metadata_get_negotiated_tls_protocol_version(_:)``.
///
/// Counterpart: macOS 10.14, iOS 12.
@available(*, deprecated, renamed: "sec_protocol_metadata_get_negotiated_tls_protocol_version")
@discardableResult
public func sec_protocol_metadata_get_negotiated_protocol_version(
    _ metadata: sec_protocol_metadata_t
) -> SSLProtocol {
    metadata.values.version.map { SSLProtocol($0) } ?? .sslProtocolUnknown
}

/// Returns the negotiated cipher suite. Before the handshake, the number of the suite is 0.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_protocol_metadata_get_negotiated_tls_ciphersuite(
    _ metadata: sec_protocol_metadata_t
) -> tls_ciphersuite_t {
    metadata.values.cipherSuite ?? tls_ciphersuite_t(number: 0)
}

/// The deprecated form of ``sec_protocol_metadata_get_negotiated_tls_ciphersuite(_:)``.
///
/// Counterpart: macOS 10.14, iOS 12.
@available(*, deprecated, renamed: "sec_protocol_metadata_get_negotiated_tls_ciphersuite")
@discardableResult
public func sec_protocol_metadata_get_negotiated_ciphersuite(_ metadata: sec_protocol_metadata_t) -> SSLCipherSuite {
    metadata.values.cipherSuite?.rawValue ?? 0
}

/// Returns whether the server accepted early data (RFC 8446 §2.3).
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_get_early_data_accepted(_ metadata: sec_protocol_metadata_t) -> Bool {
    metadata.values.isEarlyDataAccepted
}

/// Calls a closure with each certificate that the peer sent, the peer's own certificate first.
///
/// - Returns: `false` if the peer sent no certificate. The closure is then not called.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_access_peer_certificate_chain(
    _ metadata: sec_protocol_metadata_t, _ handler: @escaping (sec_certificate_t) -> Void
) -> Bool {
    forEach(metadata.values.peer.certificates) { handler(sec_certificate_t($0)) }
}

/// Calls a closure with each stapled OCSP response (RFC 6066 §8).
///
/// - Returns: `false` if there is no OCSP response. The closure is then not called.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_access_ocsp_response(
    _ metadata: sec_protocol_metadata_t, _ handler: @escaping (DispatchData) -> Void
) -> Bool {
    forEach(metadata.values.peer.ocspResponses) { handler($0.dispatchData) }
}

/// Calls a closure with each signature algorithm that the peer accepts (RFC 8446 §4.2.3).
///
/// - Returns: `false` if the peer sent no signature algorithms. The closure is then not called.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_access_supported_signature_algorithms(
    _ metadata: sec_protocol_metadata_t, _ handler: @escaping (UInt16) -> Void
) -> Bool {
    forEach(metadata.values.signatureAlgorithms, handler)
}

/// Calls a closure with each issuer that the server accepts (RFC 8446 §4.2.4), in DER.
///
/// - Returns: `false` if the server sent no issuers. The closure is then not called.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_access_distinguished_names(
    _ metadata: sec_protocol_metadata_t, _ handler: @escaping (DispatchData) -> Void
) -> Bool {
    forEach(metadata.values.distinguishedNames) { handler($0.dispatchData) }
}

/// Calls a closure for each of the program's own pre-shared keys. The arguments are the key and the identity of the
/// key.
///
/// - Returns: `false` if the program has no pre-shared keys. The closure is then not called.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_protocol_metadata_access_pre_shared_keys(
    _ metadata: sec_protocol_metadata_t, _ handler: @escaping (DispatchData, DispatchData) -> Void
) -> Bool {
    forEach(metadata.values.preSharedKeys) { handler($0.key.dispatchData, $0.identity.dispatchData) }
}

/// Returns the server name that the client requested (RFC 6066 §3), or `nil` if the client requested none. The pointer is valid as long as
/// the metadata object exists.
///
/// Counterpart: macOS 10.14, iOS 12; deprecated in macOS 15.5.
@discardableResult
public func sec_protocol_metadata_get_server_name(_ metadata: sec_protocol_metadata_t) -> UnsafePointer<CChar>? {
    metadata.values.serverName.map { metadata.lend($0) }
}

/// Returns the server name that the client requested (RFC 6066 §3), or `nil` if the client requested none. The caller must free the result.
///
/// Counterpart: macOS 15.5, iOS 18.5.
@discardableResult
public func sec_protocol_metadata_copy_server_name(_ metadata: sec_protocol_metadata_t) -> UnsafePointer<CChar>? {
    metadata.values.serverName?.makeCString()
}

/// Returns whether the peers of both sessions sent equal certificates. The result is `false` if the peers sent no certificates.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_peers_are_equal(
    _ metadataA: sec_protocol_metadata_t, _ metadataB: sec_protocol_metadata_t
) -> Bool {
    let peer = metadataA.values.peer.certificates
    return !peer.isEmpty && peer == metadataB.values.peer.certificates
}

/// Returns whether the servers of both sessions accept the same signature algorithms and issuers, and sent equal certificates.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_challenge_parameters_are_equal(
    _ metadataA: sec_protocol_metadata_t, _ metadataB: sec_protocol_metadata_t
) -> Bool {
    let (left, right) = (metadataA.values, metadataB.values)
    return left.signatureAlgorithms == right.signatureAlgorithms
        && left.distinguishedNames == right.distinguishedNames && left.peer.certificates == right.peer.certificates
}

/// Derives key material from the TLS session (RFC 5705 §4, RFC 8446 §7.5). Returns `nil` before the handshake is
/// complete. Also returns `nil` if the length of the label or the length of the result is not positive.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_create_secret(
    _ metadata: sec_protocol_metadata_t, _ label_len: Int, _ label: UnsafePointer<CChar>, _ exporter_length: Int
) -> DispatchData? {
    export(metadata, bytes(label, label_len), nil, exporter_length)
}

/// Derives key material from the TLS session and an exporter context (RFC 5705 §4, RFC 8446 §7.5). Returns `nil` before
/// the handshake is complete, if the label's or the result's length is not positive, and if `context_len` is negative.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_protocol_metadata_create_secret_with_context(
    _ metadata: sec_protocol_metadata_t, _ label_len: Int, _ label: UnsafePointer<CChar>, _ context_len: Int,
    _ context: UnsafePointer<UInt8>, _ exporter_length: Int
) -> DispatchData? {
    guard context_len >= 0 else { return nil }
    return export(
        metadata, bytes(label, label_len), Data(UnsafeRawBufferPointer(start: context, count: context_len)),
        exporter_length)
}

private func bytes(_ label: UnsafePointer<CChar>, _ count: Int) -> Data? {
    count > 0 ? Data(UnsafeRawBufferPointer(start: label, count: count)) : nil
}

private func export(
    _ metadata: sec_protocol_metadata_t, _ label: Data?, _ context: Data?, _ count: Int
) -> DispatchData? {
    guard let label, count > 0 else { return nil }
    return metadata.values.export?(label, context, count)?.dispatchData
}

private func forEach<Element>(_ elements: [Element], _ body: (Element) -> Void) -> Bool {
    elements.forEach(body)
    return !elements.isEmpty
}

extension Data {
    var dispatchData: DispatchData { withUnsafeBytes { DispatchData(bytes: $0) } }
}
