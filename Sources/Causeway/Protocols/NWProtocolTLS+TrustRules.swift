extension NWProtocolTLS.Options {
    /// Trust settings for a TLS connection. An addition of Causeway.
    public typealias TrustRules = TLSTrustRules

    /// Trust settings for evaluating the peer's certificate. They also apply to the trust object in a verify block. An addition of
    /// Causeway.
    public var trustRules: TrustRules {
        get { securityProtocolOptions.values.peer.trust }
        set { securityProtocolOptions.update { $0.peer.trust = newValue } }
    }
}
