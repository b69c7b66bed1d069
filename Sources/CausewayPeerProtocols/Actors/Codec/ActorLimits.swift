/// A distributed actor system's limits. All apply per peer.
package struct ActorLimits: Equatable, Sendable {
    /// Maximum number of unanswered calls in each direction.
    package var callCount = 256
    /// Maximum frame size in bytes: one call with its arguments, or one result.
    package var frameByteCount = 1 << 20
    /// Maximum size in bytes of a peer's calls that have not begun.
    package var waitingByteCount = 4 << 20
    /// Maximum number of published actors.
    package var listingCount = 1_024

    package init() {}

    /// Maximum number of arguments per call.
    package static let argumentCount = 64
    /// Maximum size in bytes for a function's mangled name, a key, a type name or a description.
    package static let textByteCount = 1_024
    /// Maximum number of greetings from one peer that the local system answers. The count starts when the peer arrives
    /// and ends when it departs.
    static let greetingCount = 4
    /// The longest timeout of a call: about a century. A program may pass the largest `Duration`. Without this limit,
    /// the addition of the current time would overflow.
    private static let longestTimeout = Duration.seconds(36_525 * 86_400)

    /// Returns when a program's timeout ends.
    package static func end(of timeout: Duration, from now: Duration) -> Duration {
        now + min(max(timeout, .zero), longestTimeout)
    }
}
