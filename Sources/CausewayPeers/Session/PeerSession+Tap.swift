package import Foundation

extension PeerSession {
    /// An event for another library in this package, such as CausewayPeerActors. The library receives the event before
    /// the program does.
    package enum TapEvent: Sendable {
        case joined(PeerIdentity)
        case left(PeerIdentity, PeerFailure)
        case message(Data, PeerIdentity)
    }

    /// A function that receives events before the program does. If the function returns `true` for a message, the
    /// program does not receive the message.
    package typealias Tap = @Sendable (TapEvent) -> Bool

    /// Sets the tap, which is called on the session's queue, in order, and must not block. `nil` removes it.
    package func setTap(_ tap: Tap?) { translator.tap.withLock { $0 = tap } }
}
