internal import CausewaySystem
internal import DequeModule

/// Limits the number of a listener's unfinished handshakes, because each uses tens of kilobytes.
///
/// There are two limits. While the number is above `usual`, each new handshake causes a check of some older handshakes,
/// one of which is aborted if its peer has been silent for one second. Handshakes that make progress can therefore
/// exceed this limit. While the number is above `absolute`, the check aborts the first handshake that waits for its
/// peer, even for a shorter time.
///
/// The methods may be called from any thread.
package final class UnfinishedOpenings: Sendable {
    /// Aborts one connection's handshakes if the peer has been silent for this duration. Returns whether it aborted
    /// them.
    package typealias Abort = @Sendable (Duration) -> Bool

    /// The registration of one connection's handshakes. When this object is released, the handshakes are unregistered.
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
        /// The handshakes' identifiers, in the order in which they are checked. A removed handshake's identifier stays
        /// in this list and is skipped later.
        var order: Deque<UInt64> = []
        var lastNumber: UInt64 = 0
    }

    private static let patience = Duration.seconds(1)
    /// The maximum number of handshakes that are checked when a new handshake is registered. A checked handshake moves
    /// to the end of the list.
    private static let looksAtOnce = 8

    private let usual: Int
    private let absolute: Int
    private let state = LockedValue(State())

    package init(usual: Int = 1_024, absolute: Int = 4_096) { (self.usual, self.absolute) = (usual, absolute) }

    package var count: Int { state.withLock { $0.entries.count } }

    /// Registers one connection's handshakes. If the listener then has too many unfinished handshakes, may abort
    /// another connection's handshakes.
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
