public import Dispatch
internal import FoundationEssentials

// These functions only store their arguments. The TLS engine reads the stored values when a connection is created.

/// Returns whether two options objects have the same settings.
///
/// Blocks cannot be compared, so two blocks count as equal only if the same call has set both. A copy of an object has
/// the same block as the object until the program sets another one.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_protocol_options_are_equal(
    _ optionsA: sec_protocol_options_t, _ optionsB: sec_protocol_options_t
) -> Bool {
    optionsA === optionsB || optionsA.values == optionsB.values
}

/// Sets the local certificate and key. A TLS listener needs an identity or pre-shared keys.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_local_identity(_ options: sec_protocol_options_t, _ identity: sec_identity_t) {
    options.update { $0.localIdentity = identity }
}

/// Adds an allowed cipher suite. If no suite is added, the default suites of the TLS engine apply.
///
/// Counterpart: macOS 10.15, iOS 13.
public func sec_protocol_options_append_tls_ciphersuite(
    _ options: sec_protocol_options_t, _ ciphersuite: tls_ciphersuite_t
) {
    options.update { $0.ciphers.suites.append(ciphersuite) }
}

/// The deprecated form of ``sec_protocol_options_append_tls_ciphersuite(_:_:)``.
///
/// Counterpart: macOS 10.14, iOS 12.
@available(*, deprecated, renamed: "sec_protocol_options_append_tls_ciphersuite")
public func sec_protocol_options_add_tls_ciphersuite(
    _ options: sec_protocol_options_t, _ ciphersuite: SSLCipherSuite
) {
    options.update { $0.ciphers.suites.append(tls_ciphersuite_t(number: ciphersuite)) }
}

/// Adds a named group of allowed cipher suites.
///
/// Counterpart: macOS 10.15, iOS 13.
public func sec_protocol_options_append_tls_ciphersuite_group(
    _ options: sec_protocol_options_t, _ group: tls_ciphersuite_group_t
) {
    options.update { $0.ciphers.groups.append(group) }
}

/// The deprecated form of ``sec_protocol_options_append_tls_ciphersuite_group(_:_:)``.
///
/// Counterpart: macOS 10.14, iOS 12.
@available(*, deprecated, renamed: "sec_protocol_options_append_tls_ciphersuite_group")
public func sec_protocol_options_add_tls_ciphersuite_group(
    _ options: sec_protocol_options_t, _ group: SSLCiphersuiteGroup
) {
    options.update { $0.ciphers.groups.append(group.group) }
}

/// The deprecated form of ``sec_protocol_options_set_min_tls_protocol_version(_:_:)``. Versions that `tls_protocol_version_t` does not
/// contain have no effect.
///
/// Counterpart: macOS 10.14, iOS 12.
@available(*, deprecated, renamed: "sec_protocol_options_set_min_tls_protocol_version")
public func sec_protocol_options_set_tls_min_version(_ options: sec_protocol_options_t, _ version: SSLProtocol) {
    guard let version = version.version else { return }
    options.update { $0.versions.minimum = version }
}

/// Sets the minimum version. The default is TLS 1.2 or DTLS 1.2. TLS 1.3 is not supported over datagrams: connections and listeners with
/// this minimum fail with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 10.15, iOS 13.
public func sec_protocol_options_set_min_tls_protocol_version(
    _ options: sec_protocol_options_t, _ version: tls_protocol_version_t
) {
    options.update { $0.versions.minimum = version }
}

/// The deprecated form of ``sec_protocol_options_set_max_tls_protocol_version(_:_:)``. Versions that `tls_protocol_version_t` does not
/// contain have no effect.
///
/// Counterpart: macOS 10.14, iOS 12.
@available(*, deprecated, renamed: "sec_protocol_options_set_max_tls_protocol_version")
public func sec_protocol_options_set_tls_max_version(_ options: sec_protocol_options_t, _ version: SSLProtocol) {
    guard let version = version.version else { return }
    options.update { $0.versions.maximum = version }
}

/// Sets the maximum version. The default is TLS 1.3 or DTLS 1.2.
///
/// Counterpart: macOS 10.15, iOS 13.
public func sec_protocol_options_set_max_tls_protocol_version(
    _ options: sec_protocol_options_t, _ version: tls_protocol_version_t
) {
    options.update { $0.versions.maximum = version }
}

/// Returns the default minimum version of TLS.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_protocol_options_get_default_min_tls_protocol_version() -> tls_protocol_version_t { .TLSv12 }

/// Returns the default minimum version of DTLS.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_protocol_options_get_default_min_dtls_protocol_version() -> tls_protocol_version_t { .DTLSv12 }

/// Returns the default maximum version of TLS.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_protocol_options_get_default_max_tls_protocol_version() -> tls_protocol_version_t { .TLSv13 }

/// Returns the default maximum version of DTLS.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_protocol_options_get_default_max_dtls_protocol_version() -> tls_protocol_version_t { .DTLSv12 }

/// Adds an application protocol to offer or accept (RFC 7301 §3.1). A protocol that is added earlier has a higher
/// preference.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_add_tls_application_protocol(
    _ options: sec_protocol_options_t, _ application_protocol: UnsafePointer<CChar>
) {
    let name = String(cString: application_protocol)
    options.update { $0.applicationProtocols.append(name) }
}

/// Sets the server name to request (RFC 6066 §3) and to match against the certificate. Default: the host of the endpoint.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_tls_server_name(
    _ options: sec_protocol_options_t, _ server_name: UnsafePointer<CChar>
) {
    let name = String(cString: server_name)
    options.update { $0.serverName = name }
}

/// Sets Diffie-Hellman parameters. This setting has no effect, because key exchange groups are negotiated.
///
/// Counterpart: macOS 10.14, iOS 12.
@available(*, deprecated, message: "It has no effect")
public func sec_protocol_options_set_tls_diffie_hellman_parameters(
    _ options: sec_protocol_options_t, _ params: DispatchData
) {}

/// Adds a pre-shared key and its identity (RFC 4279 §2, RFC 8446 §4.2.11). The identity ends before its first zero byte.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_add_pre_shared_key(
    _ options: sec_protocol_options_t, _ psk: DispatchData, _ psk_identity: DispatchData
) {
    let key = SecProtocolOptionValues.PreSharedKey(key: Data(psk), identity: Data(psk_identity))
    options.update { $0.preSharedKeys.keys.append(key) }
}

/// Sets the hint with which a server tells its clients which pre-shared key to use (RFC 4279 §2).
///
/// Counterpart: macOS 10.15, iOS 13.
public func sec_protocol_options_set_tls_pre_shared_key_identity_hint(
    _ options: sec_protocol_options_t, _ psk_identity_hint: DispatchData
) {
    let hint = Data(psk_identity_hint)
    options.update { $0.preSharedKeys.identityHint = hint }
}

/// Sets the block that selects a client's pre-shared key by the server's hint. This block is not supported: connections and listeners with
/// such a block fail with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 10.15, iOS 13.
public func sec_protocol_options_set_pre_shared_key_selection_block(
    _ options: sec_protocol_options_t, _ psk_selection_block: @escaping sec_protocol_pre_shared_key_selection_t,
    _ psk_selection_queue: DispatchQueue
) {
    let block = SecProtocolBlock<sec_protocol_pre_shared_key_selection_t>(psk_selection_block, psk_selection_queue)
    options.update { $0.preSharedKeys.selection = block }
}

/// Sets whether sessions may be resumed with tickets (RFC 5077, RFC 8446 §4.6.1).
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_tls_tickets_enabled(_ options: sec_protocol_options_t, _ tickets_enabled: Bool) {
    options.update { $0.switches[.tickets] = tickets_enabled }
}

/// Sets whether this connection is a retry with a lower version (RFC 7507 §4). The default is `false`.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_tls_is_fallback_attempt(
    _ options: sec_protocol_options_t, _ is_fallback_attempt: Bool
) {
    options.update { $0.isFallbackAttempt = is_fallback_attempt }
}

/// Sets whether sessions may be resumed.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_tls_resumption_enabled(
    _ options: sec_protocol_options_t, _ resumption_enabled: Bool
) {
    options.update { $0.switches[.resumption] = resumption_enabled }
}

/// Sets whether content may be sent before the handshake is complete (RFC 7918 §3). This option has no effect, because OpenSSL has no such
/// setting.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_tls_false_start_enabled(
    _ options: sec_protocol_options_t, _ false_start_enabled: Bool
) {
    options.update { $0.switches[.falseStart] = false_start_enabled }
}

/// Sets whether to request a stapled OCSP response (RFC 6066 §8).
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_tls_ocsp_enabled(_ options: sec_protocol_options_t, _ ocsp_enabled: Bool) {
    options.update { $0.switches[.ocsp] = ocsp_enabled }
}

/// Sets whether to request signed certificate timestamps (RFC 6962 §3.3.1). This option has no effect: the library never requests
/// timestamps.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_tls_sct_enabled(_ options: sec_protocol_options_t, _ sct_enabled: Bool) {
    options.update { $0.switches[.sct] = sct_enabled }
}

/// Sets whether TLS 1.2 allows renegotiation (RFC 5746 §3). This option has no effect: renegotiation is always refused.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_tls_renegotiation_enabled(
    _ options: sec_protocol_options_t, _ renegotiation_enabled: Bool
) {
    options.update { $0.switches[.renegotiation] = renegotiation_enabled }
}

/// Sets whether the peer must send a certificate. The default is `true` for clients and `false` for servers.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_peer_authentication_required(
    _ options: sec_protocol_options_t, _ peer_authentication_required: Bool
) {
    options.update {
        $0.peer.authentication =
            peer_authentication_required ? .required : SecProtocolOptionValues.PeerAuthentication.none
    }
}

/// Sets the block that is called when keys must change. This block has no effect: OpenSSL decides when keys change, and never calls the
/// block.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_key_update_block(
    _ options: sec_protocol_options_t, _ key_update_block: @escaping sec_protocol_key_update_t,
    _ key_update_queue: DispatchQueue
) {
    let block = SecProtocolBlock<sec_protocol_key_update_t>(key_update_block, key_update_queue)
    options.update { $0.keyUpdate = block }
}

/// Sets the block that selects the client's identity. It is called on `challenge_queue` when the server requests an
/// identity.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_challenge_block(
    _ options: sec_protocol_options_t, _ challenge_block: @escaping sec_protocol_challenge_t,
    _ challenge_queue: DispatchQueue
) {
    let block = SecProtocolBlock<sec_protocol_challenge_t>(challenge_block, challenge_queue)
    options.update { $0.challenge = block }
}

/// Sets the block that decides whether the peer is trusted. The block replaces the default validation, and is called on
/// `verify_block_queue`. The handshake waits until the block calls its completion handler.
///
/// Counterpart: macOS 10.14, iOS 12.
public func sec_protocol_options_set_verify_block(
    _ options: sec_protocol_options_t, _ verify_block: @escaping sec_protocol_verify_t,
    _ verify_block_queue: DispatchQueue
) {
    let block = SecProtocolBlock<sec_protocol_verify_t>(verify_block, verify_block_queue)
    options.update { $0.peer.verify = block }
}
