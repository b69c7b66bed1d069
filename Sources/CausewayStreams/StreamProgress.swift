internal import Causeway
internal import Foundation

/// Where a stream is in its life, and what its delegate is to be told next. It does nothing by itself.
///
/// The opening is told first. Bytes or room are told once, and again only after a read or write has followed: a delegate that does
/// nothing is left alone. The end and an error come behind what there was to read, once, and nothing comes after a close.
struct StreamProgress: Sendable {
    /// What the buffer beneath says.
    struct Facts: Sendable {
        /// There is something to read, or room to write.
        var isReady = false
        /// Everything was read.
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

    /// Returns whether this was the first call.
    mutating func openCalled() -> Bool {
        guard phase == .notOpen else { return false }
        phase = .opening
        return true
    }

    mutating func opened() { if phase == .opening { phase = .open } }

    /// A read or write was tried.
    mutating func touched() { isArmed = true }

    /// Returns whether this was the first call.
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

    /// What to tell next, an event of bytes being `ready`. `nil` for nothing.
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
