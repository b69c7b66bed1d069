package import CausewayHTTPProtocols
package import CausewayProtocols

/// A store of alternative services (RFC 7838). An engine asks the store when it establishes a connection, and reports
/// the outcome to the store.
package protocol AlternativeChoosing: Sendable {
    /// Returns the alternative service to use instead of a secure origin. Returns `nil` if the engine must connect to
    /// the origin itself.
    func alternative(for origin: HTTPOrigin) -> AlternativeService?
    /// Records that an alternative presented a certificate that is valid for the origin, and speaks the advertised protocol.
    func reached(_ service: AlternativeService, of origin: HTTPOrigin)
    /// Records that the connection to an alternative service failed. The engine then connects to the origin.
    func failed(_ service: AlternativeService, of origin: HTTPOrigin)
}
