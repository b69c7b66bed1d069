internal import Foundation

/// Messages of which only the newest per key matters. One task per key and peer sends, and takes the newest value each time.
final class LatestValues: Sendable {
    private struct Slot: Hashable {
        let key: String
        let peer: PeerIdentity
    }

    private struct Value {
        var message: Data
        var number = 0
    }

    private let waiting = LockedValue<[Slot: Value]>([:])

    /// Returns when the value, or a newer one, was queued. If another task already sends for the key, returns at once,
    /// and that task sends this value.
    func send(_ message: Data, _ key: String, to peer: PeerIdentity, _ group: PeerGroup) async throws {
        let slot = Slot(key: key, peer: peer)
        let isFirst = waiting.withLock { waiting in
            let number = waiting[slot].map { $0.number + 1 }
            waiting[slot] = Value(message: message, number: number ?? 0)
            return number == nil
        }
        guard isFirst else { return }
        do {
            while let value = waiting.withLock({ $0[slot] }) {
                guard try await group.sendOrWait([UInt8](value.message), to: peer) else { continue }
                waiting.withLock { if $0[slot]?.number == value.number { $0[slot] = nil } }
            }
        } catch {
            waiting.withLock { _ = $0.removeValue(forKey: slot) }
            throw error
        }
    }
}
