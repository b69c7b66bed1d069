import Causeway
import CausewaySystem

/// Checks the rules for one connection in a stress test.
///
/// Each request completes once. Every state change is valid. `cancelled` is reported once, as the last state. On a
/// serial queue, it is reported after every completion.
final class Trace: Sendable {
    private struct State {
        var states: [NWConnection.State] = []
        /// Requests that have not completed.
        var open: Set<Int> = []
        var lastRequest = 0
        /// Requests made before the connection's start. If such requests are refused, they complete on a system queue,
        /// in any order.
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

    /// Records a request and returns its number. The completion handler must pass this number back.
    func requested() -> Int {
        state.withLock { state in
            state.lastRequest += 1
            state.open.insert(state.lastRequest)
            return state.lastRequest
        }
    }

    /// Must be called before the connection is started.
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
            // On a concurrent queue, callbacks can overlap. So their order is not checked there.
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

    /// Whether no further callback is expected. This is the case if the connection is cancelled and no request is open.
    var hasEnded: Bool { state.withLock { state in state.isCancelled && state.open.isEmpty } }

    /// Returns the rule violations that were recorded so far. If `atEnd` is `true`, the result also includes calls that
    /// have not completed.
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
        // A datagram connection returns to preparing after `cancelCurrentEndpoint()`.
        case (.ready, .failed), (.ready, .cancelled), (.ready, .preparing): true
        case (.failed, .cancelled): true
        default: false
        }
    }
}
