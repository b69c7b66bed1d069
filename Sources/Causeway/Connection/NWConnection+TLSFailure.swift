internal import CausewayRuntime

extension NWConnection {
    /// The reason why TLS failed, as text for users: the certificate, the violated rule, and advice. Only on Linux: Apple reports only a
    /// number.
    ///
    /// Read this when the connection waits or a request fails with `NWError.tls`. `nil` if TLS has not failed since the last attempt began,
    /// and after the connection has ended. A program should not parse the text but use the number of the error.
    public var tlsFailureReason: String? {
        driver.channel?.delegates.lazy.compactMap { delegate in
            (delegate as? TLSDelegate)?.failureReason
                ?? (delegate as? ProxySecurityDelegate)?.failureReason.map { "the proxy: \($0)" }
        }.first
    }
}
