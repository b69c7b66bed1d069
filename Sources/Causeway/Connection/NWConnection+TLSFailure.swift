internal import CausewayRuntime

extension NWConnection {
    /// A description of the TLS failure for people: the certificate, the violated rule, and advice. Only on Linux: Apple reports only a
    /// number.
    ///
    /// Read this when the connection waits or a request fails with `NWError.tls`. `nil` if TLS has not failed since the start of the last
    /// attempt, and after the connection has ended. Programs should decide by the error number, not by this text.
    public var tlsFailureReason: String? {
        driver.channel?.delegates.lazy.compactMap { delegate in
            (delegate as? TLSDelegate)?.failureReason
                ?? (delegate as? ProxySecurityDelegate)?.failureReason.map { "the proxy: \($0)" }
        }.first
    }
}
