internal import Causeway
internal import Foundation

/// Tracks the state of a stream, and determines the next event for its delegate. This type has no side effects.
///
/// The first event reports that the stream is open. After that, an event reports available bytes or space. It is
/// repeated only after the next read or write, so a delegate that neither reads nor writes gets it only once.
///
/// The event for the end or for an error comes once, after all available bytes were read. After a close, no event
/// comes.
struct StreamProgress: Sendable {
    /// The state of the underlying pipe.
    struct Facts: Sendable {
        /// Whether there are bytes to read, or space to write.
        var isReady = false
        /// Whether the writer has finished and all bytes were read.
        var isAtEnd = false
        var failure: NWError?
    }

    private enum Phase: Sendable {
        case notOpen, opening, open, closed
    }

    private var phase = Phase.notOpen
    private var isArmed = true
    private var hasToldOpen = false
    private var hasToldEnd = false
    private var hasToldFailure = false

    /// Records that the program called `open` on the stream. Returns whether this was the first call.
    mutating func openCalled() -> Bool {
        guard phase == .notOpen else { return false }
        phase = .opening
        return true
    }

    mutating func opened() { if phase == .opening { phase = .open } }

    /// Records an attempt to read or write.
    mutating func touched() { isArmed = true }

    /// Records a call to `close`. Returns whether it was the first call.
    mutating func closeCalled() -> Bool {
        defer { phase = .closed }
        return phase != .closed
    }

    func status(_ facts: Facts) -> Stream.Status {
        switch phase {
        case .notOpen: return .notOpen
        case .closed: return .closed
        case .opening: return facts.failure == nil ? .opening : .error
        case .open:
            if facts.isReady { return .open }
            if facts.failure != nil { return .error }
            return facts.isAtEnd ? .atEnd : .open
        }
    }

    /// Returns the next event, or `nil`. `ready` is the event for available bytes or space.
    mutating func nextEvent(_ facts: Facts, ready: Stream.Event) -> Stream.Event? {
        switch phase {
        case .notOpen, .closed: return nil
        case .opening: break
        case .open:
            if !hasToldOpen {
                hasToldOpen = true
                return .openCompleted
            }
            if facts.isReady {
                guard isArmed else { return nil }
                isArmed = false
                return ready
            }
        }
        if facts.failure != nil {
            defer { hasToldFailure = true }
            return hasToldFailure ? nil : .errorOccurred
        }
        guard phase == .open, facts.isAtEnd, !hasToldEnd else { return nil }
        hasToldEnd = true
        return .endEncountered
    }
}
