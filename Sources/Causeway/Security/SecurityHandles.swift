/// The TLS settings of one ``NWProtocolTLS/Options``, as `sec_protocol_options_*` functions take them.
///
/// It holds nothing yet, because TLS is not implemented.
///
/// Counterpart: macOS 10.14, iOS 12.
public final class sec_protocol_options_t: Sendable {
    package init() {}

    /// A deep copy.
    package func copy() -> sec_protocol_options_t { sec_protocol_options_t() }
}

/// What a TLS handshake negotiated, as `sec_protocol_metadata_*` functions take it.
///
/// It holds nothing yet, because TLS is not implemented.
///
/// Counterpart: macOS 10.14, iOS 12.
public final class sec_protocol_metadata_t: Sendable {
    package init() {}
}
