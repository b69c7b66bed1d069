internal import CausewaySystem
internal import DequeModule

/// Limits the number of a listener's unfinished handshakes, because each of them uses tens of kilobytes.
///
/// The object has two limits. While the number is above `usual`, each new handshake causes a check of some older
/// handshakes. The check aborts one whose peer has been silent for one second. Handshakes that make progress may
/// therefore exceed this limit. While the number is above `absolute`, the check aborts the first handshake that waits
/// for its peer, even after a shorter silence.
///
/// The methods may be called from any thread.
package final class UnfinishedOpenings: Sendable {
    /// Aborts a connection's handshakes if the peer has been silent for at least this duration. Returns whether it
    /// aborted them.
    package typealias Abort = @Sendable (Duration) -> Bool

    /// Keeps the handshakes of one connection registered. The registration ends when this object is released.
    package final class Ticket: Sendable {
        private let number: UInt64
        private let openings: UnfinishedOpenings

        fileprivate init(_ number: UInt64, _ openings: UnfinishedOpenings) {
            (self.number, self.openings) = (number, openings)
        }

        deinit { openings.leave(number) }
    }

    private struct State {
        var entries: [UInt64: Abort] = [:]
        /// The identifiers of the handshakes, in the order in which they will be checked. When a handshake is removed,
        /// its identifier stays in this list. The next check skips it.
        var order: Deque<UInt64> = []
        var lastNumber: UInt64 = 0
    }

    private static let patience = Duration.seconds(1)
    /// When a new handshake is registered, at most this number of older handshakes are checked. A checked handshake
    /// moves to the end of the list.
    private static let looksAtOnce = 8

    private let usual: Int
    private let absolute: Int
    private let state = LockedValue(State())

    package init(usual: Int = 1_024, absolute: Int = 4_096) { (self.usual, self.absolute) = (usual, absolute) }

    package var count: Int { state.withLock { $0.entries.count } }

    /// Registers a connection whose handshakes have started.
    ///
    /// This may be more unfinished handshakes than the listener allows. In that case, the method aborts the handshakes
    /// of another connection if possible.
    package func enter(_ giveUp: @escaping Abort) -> Ticket {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.entries[state.lastNumber] = giveUp
            state.order.append(state.lastNumber)
            if state.order.count > 2 * state.entries.count + 64 {
                state.order.removeAll { state.entries[$0] == nil }
            }
            return state.lastNumber
        }
        relieve(except: number)
        return Ticket(number, self)
    }

    private func relieve(except newest: UInt64) {
        for _ in 0..<Self.looksAtOnce {
            let found = state.withLock { state -> (patience: Duration, giveUp: Abort)? in
                guard state.entries.count > usual else { return nil }
                let patience = state.entries.count > absolute ? .zero : Self.patience
                while let number = state.order.popFirst() {
                    guard let giveUp = state.entries[number] else { continue }
                    state.order.append(number)
                    return number == newest ? nil : (patience, giveUp)
                }
                return nil
            }
            guard let found, !found.giveUp(found.patience) else { return }
        }
    }

    private func leave(_ number: UInt64) {
        let giveUp = state.withLock { $0.entries.removeValue(forKey: number) }
        withExtendedLifetime(giveUp) {}
    }
}
