internal import CausewayRuntime

extension NWConnection {
    /// Why TLS failed, for a person: which certificate, which rule and what to do. Only on Linux: Apple's tells a number.
    ///
    /// Ask when the connection waits or a request fails with `NWError.tls`. `nil` when TLS has not failed since the last
    /// attempt began, and once the connection has ended. A program decides by the number, not by this text.
    public var tlsFailureReason: String? {
        driver.channel?.delegates.lazy.compactMap { delegate in
            (delegate as? TLSDelegate)?.failureReason
                ?? (delegate as? ProxySecurityDelegate)?.failureReason.map { "the proxy: \($0)" }
        }.first
    }
}
