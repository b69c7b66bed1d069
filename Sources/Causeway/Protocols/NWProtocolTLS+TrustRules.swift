extension NWProtocolTLS.Options {
    /// The trust settings of a TLS connection.
    public typealias TrustRules = TLSTrustRules

    /// The trust settings. A verify block that evaluates its trust object uses them too.
    public var trustRules: TrustRules {
        get { securityProtocolOptions.values.trustRules }
        set { securityProtocolOptions.update { $0.trustRules = newValue } }
    }
}
