extension NWProtocolTLS.Options {
    /// The trust settings of a TLS connection. An addition of Causeway.
    public typealias TrustRules = TLSTrustRules

    /// The trust settings that decide whether the peer's certificate is accepted. They also apply to the trust object that a verify block
    /// evaluates. An addition of Causeway.
    public var trustRules: TrustRules {
        get { securityProtocolOptions.values.trustRules }
        set { securityProtocolOptions.update { $0.trustRules = newValue } }
    }
}
