package import CausewayHTTPProtocols
package import CausewayProtocols

/// The memory of alternative services (RFC 7838) that an engine asks when it establishes a connection, and that learns how it went.
package protocol AlternativeChoosing: Sendable {
    /// Returns the place to connect to instead of a secure origin; `nil` for the origin itself.
    func alternative(for origin: HTTPOrigin) -> AlternativeService?
    /// Notes that an alternative presented a certificate that is valid for the origin, and speaks the promised protocol.
    func reached(_ service: AlternativeService, of origin: HTTPOrigin)
    /// Notes that a connection to an alternative failed. The engine connects to the origin.
    func failed(_ service: AlternativeService, of origin: HTTPOrigin)
}
