/// The limits of a distributed actor system. All apply per peer.
package struct ActorLimits: Equatable, Sendable {
    /// Maximum number of calls that wait for their reply, in each direction.
    package var callCount = 256
    /// Maximum size of a frame in bytes: one call with its arguments, or one result.
    package var frameByteCount = 1 << 20
    /// Maximum size in bytes of the calls of a peer that have not begun.
    package var waitingByteCount = 4 << 20
    /// Maximum number of listings of a peer.
    package var listingCount = 1_024

    package init() {}

    /// Maximum number of arguments of a call.
    static let argumentCount = 64
    /// Maximum size in bytes of a target, a key, a type name or a description.
    static let textByteCount = 1_024
    /// Maximum number of answered greetings while a peer is a member.
    static let greetingCount = 4
}
