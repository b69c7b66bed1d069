extension NWProtocolTLS.Options {
    /// Trust settings for a TLS connection. Apple's framework has no counterpart.
    public typealias TrustRules = TLSTrustRules

    /// Trust settings for evaluating the peer's certificate. They also apply to the trust object in a verify block.
    /// Apple's framework has no counterpart.
    public var trustRules: TrustRules {
        get { securityProtocolOptions.values.peer.trust }
        set { securityProtocolOptions.update { $0.peer.trust = newValue } }
    }
}
