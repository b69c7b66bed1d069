internal import Foundation

/// Messages of which only the newest per key matters: it replaces an older one that is queued, and one that waits for space.
final class LatestValues: Sendable {
    private struct Slot: Hashable {
        let key: String
        let peer: PeerIdentity
    }

    private struct State {
        var lastNumber: UInt64 = 0
        /// The numbers of the sends that are under way, in their order.
        var sends: [Slot: [UInt64]] = [:]
    }

    private let state = LockedValue(State())

    /// Returns when the value is queued, or after a newer one has replaced it.
    ///
    /// Cancellation: the value is not sent, and replaces no older one that still waits for space.
    func send(_ message: Data, _ key: String, to peer: PeerIdentity, _ group: PeerGroup) async throws {
        let (slot, bytes) = (Slot(key: key, peer: peer), [UInt8](message))
        let number = state.withLock { state in
            state.lastNumber += 1
            state.sends[slot, default: []].append(state.lastNumber)
            return state.lastNumber
        }
        defer { ended(number, slot) }
        let isNewest: @Sendable () -> Bool = { [state] in state.withLock { $0.sends[slot]?.last == number } }
        while try await !group.sendOrWait(bytes, to: peer, key: key, isWanted: isNewest) {}
    }

    private func ended(_ number: UInt64, _ slot: Slot) {
        state.withLock { state in
            state.sends[slot]?.removeAll { $0 == number }
            if state.sends[slot]?.isEmpty == true { state.sends[slot] = nil }
        }
    }
}
