import Causeway
import CausewaySystem

/// Watches one connection of a storm for what must never happen.
///
/// Each request is answered once. States follow each other as they may, and `cancelled` comes once and last; on a queue that
/// runs one block at a time, after every answer.
final class Trace: Sendable {
    private struct State {
        var states: [NWConnection.State] = []
        /// Requests without an answer yet.
        var open: Set<Int> = []
        var lastRequest = 0
        /// Requests made before the start: refused ones among them are answered on a queue of the system's, in no order.
        var earlyRequests = 0
        var isCancelled = false
        var violations: [String] = []
    }

    private let state = LockedValue(State())
    let name: String
    private let isSerial: Bool

    init(_ name: String, isSerial: Bool) {
        self.name = name
        self.isSerial = isSerial
    }

    /// Notes a request; its answer brings back the number.
    func requested() -> Int {
        state.withLock { state in
            state.lastRequest += 1
            state.open.insert(state.lastRequest)
            return state.lastRequest
        }
    }

    /// Call it before the connection is started.
    func willStart() { state.withLock { state in state.earlyRequests = state.lastRequest } }

    func answered(_ request: Int) {
        state.withLock { state in
            if isSerial, state.isCancelled, request > state.earlyRequests {
                state.violations.append("request \(request) answered after cancelled")
            }
            if state.open.remove(request) == nil { state.violations.append("request \(request) answered twice") }
        }
    }

    func reached(_ next: NWConnection.State) {
        state.withLock { state in
            // On a concurrent queue callbacks overlap, so that the order in which they come here says nothing.
            if isSerial, !Self.mayFollow(state.states.last, next) {
                state.violations.append("\(next) after \(state.states)")
            }
            state.states.append(next)
            if next == .cancelled {
                if state.isCancelled { state.violations.append("cancelled twice") }
                state.isCancelled = true
            }
        }
    }

    /// Whether nothing more will come.
    var hasEnded: Bool { state.withLock { state in state.isCancelled && state.open.isEmpty } }

    /// What went wrong so far; `atEnd`, also what is missing.
    func violations(atEnd: Bool) -> [String] {
        state.withLock { state in
            var all = state.violations
            if atEnd, !state.isCancelled { all.append("never cancelled: \(state.states)") }
            if atEnd, !state.open.isEmpty { all.append("\(state.open.count) requests never answered: \(state.states)") }
            return all.map { "\(name): \($0)" }
        }
    }

    private static func mayFollow(_ last: NWConnection.State?, _ next: NWConnection.State) -> Bool {
        switch (last, next) {
        case (nil, .preparing), (nil, .failed), (nil, .cancelled): true
        case (.preparing, .ready), (.preparing, .waiting), (.preparing, .failed), (.preparing, .cancelled): true
        case (.waiting, .preparing), (.waiting, .failed), (.waiting, .cancelled): true
        // `cancelCurrentEndpoint()` on a datagram connection leads back to preparing.
        case (.ready, .failed), (.ready, .cancelled), (.ready, .preparing): true
        case (.failed, .cancelled): true
        default: false
        }
    }
}
