public import Dispatch

// Overloads of `sec_*` functions for text as unsigned bytes. In C, text may be signed or unsigned bytes, so each
// function exists for both. A string literal matches both overloads of a function, and Swift then prefers the overload
// for signed bytes.

/// Derives key material from the session (RFC 5705 §4, RFC 8446 §7.5). Returns `nil` before the handshake is complete,
/// and if the length of the label or of the result is not positive.
///
/// Counterpart: macOS 10.14, iOS 12.
@_disfavoredOverload
@discardableResult
public func sec_protocol_metadata_create_secret(
    _ metadata: sec_protocol_metadata_t, _ label_len: Int, _ label: UnsafePointer<UInt8>, _ exporter_length: Int
) -> DispatchData? {
    signed(label, label_len) { sec_protocol_metadata_create_secret(metadata, label_len, $0, exporter_length) }
}

/// Derives key material from the TLS session and an exporter context (RFC 5705 §4, RFC 8446 §7.5). Returns `nil` before
/// the handshake is complete, if the label's or the result's length is not positive, and if `context_len` is negative.
///
/// Counterpart: macOS 10.14, iOS 12.
@_disfavoredOverload
@discardableResult
public func sec_protocol_metadata_create_secret_with_context(
    _ metadata: sec_protocol_metadata_t, _ label_len: Int, _ label: UnsafePointer<UInt8>, _ context_len: Int,
    _ context: UnsafePointer<UInt8>, _ exporter_length: Int
) -> DispatchData? {
    signed(label, label_len) {
        sec_protocol_metadata_create_secret_with_context(
            metadata, label_len, $0, context_len, context, exporter_length)
    }
}

/// Adds an application protocol to offer or accept (RFC 7301 §3.1). The protocol that is added first has the highest preference.
///
/// Counterpart: macOS 10.14, iOS 12.
@_disfavoredOverload
public func sec_protocol_options_add_tls_application_protocol(
    _ options: sec_protocol_options_t, _ application_protocol: UnsafePointer<UInt8>
) {
    let name = String(cString: application_protocol)
    sec_protocol_options_add_tls_application_protocol(options, name)
}

/// Sets the server name to request (RFC 6066 §3) and to match against the certificate. Default: the host of the endpoint.
///
/// Counterpart: macOS 10.14, iOS 12.
@_disfavoredOverload
public func sec_protocol_options_set_tls_server_name(
    _ options: sec_protocol_options_t, _ server_name: UnsafePointer<UInt8>
) {
    let name = String(cString: server_name)
    sec_protocol_options_set_tls_server_name(options, name)
}

private func signed<Result>(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, _ body: (UnsafePointer<CChar>) -> Result
) -> Result {
    bytes.withMemoryRebound(to: CChar.self, capacity: max(0, count), body)
}
