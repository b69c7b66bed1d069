internal import CausewaySystem
internal import DequeModule

/// Bounds the handshakes that peers of one listener have begun and not finished: each keeps tens of kilobytes.
///
/// Beyond the usual number the one that has waited longest gives way if its peer has been silent for a second; a crowd whose handshakes make
/// progress may be larger. Beyond the absolute number the oldest that waits for its peer gives way in any case. Any thread.
package final class UnfinishedOpenings: Sendable {
    /// Aborts the handshakes if the peer has been silent for this duration. Returns whether it did.
    package typealias Abort = @Sendable (Duration) -> Bool

    /// A place among the unfinished, until it is released.
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
        /// From the oldest on; those that have left are dropped when they are met.
        var order: Deque<UInt64> = []
        var lastNumber: UInt64 = 0
    }

    private static let patience = Duration.seconds(1)
    /// How many are looked at for each that is new: those that are in the middle of a handshake go to the end of the line.
    private static let looksAtOnce = 8

    private let usual: Int
    private let absolute: Int
    private let state = LockedValue(State())

    package init(usual: Int = 1_024, absolute: Int = 4_096) { (self.usual, self.absolute) = (usual, absolute) }

    package var count: Int { state.withLock { $0.entries.count } }

    /// Adds one, and has another give way if there are too many.
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
