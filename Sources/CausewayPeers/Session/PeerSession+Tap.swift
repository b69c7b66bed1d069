package import Foundation

extension PeerSession {
    /// An event that another product sees before the program does.
    package enum TapEvent: Sendable {
        case joined(PeerIdentity)
        case left(PeerIdentity, PeerFailure)
        case message(Data, PeerIdentity)
    }

    /// Sees events. A message for which it returns `true` does not reach the program.
    package typealias Tap = @Sendable (TapEvent) -> Bool

    /// Sets the tap, which is called on the queue of the session, in order, and does not block. `nil`: none.
    package func setTap(_ tap: Tap?) { translator.tap.withLock { $0 = tap } }
}
