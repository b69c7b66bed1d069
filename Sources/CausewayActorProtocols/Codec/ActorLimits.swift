/// A distributed actor system's limits. All apply per peer.
package struct ActorLimits: Equatable, Sendable {
    /// Maximum number of unanswered calls in each direction.
    package var callCount = 256
    /// Maximum frame size in bytes: one call with its arguments, or one result.
    package var frameByteCount = 1 << 20
    /// Maximum size in bytes of a peer's calls that have not begun.
    package var waitingByteCount = 4 << 20
    /// Maximum number of listings.
    package var listingCount = 1_024

    package init() {}

    /// Maximum number of arguments per call.
    static let argumentCount = 64
    /// Maximum size in bytes for a target, key, type name or description.
    static let textByteCount = 1_024
    /// Maximum number of answered greetings per membership.
    static let greetingCount = 4
}
