internal import CausewayRuntime

extension NWConnection {
    /// The reason why TLS failed, as human-readable text: the certificate, the violated rule, and advice. Only on
    /// Linux: Apple's framework has only an error number.
    ///
    /// Read this when the connection waits or a request fails with `NWError.tls`. `nil` if TLS has not failed since the
    /// latest attempt began, and after the connection has ended. Do not parse the text in a program; use the error
    /// number instead.
    public var tlsFailureReason: String? {
        driver.channel?.delegates.lazy.compactMap { delegate in
            (delegate as? TLSDelegate)?.failureReason
                ?? (delegate as? ProxySecurityDelegate)?.failureReason.map { "the proxy: \($0)" }
        }.first
    }
}
