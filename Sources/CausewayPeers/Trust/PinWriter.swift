internal import CausewayPeerProtocols
internal import Dispatch

/// Writes a node's recorded keys on a disk queue, in order. Without a store, only calls the completions.
final class PinWriter: Sendable {
    private let store: PeerPinStore?
    private let queue = DispatchQueue(label: "causeway.peers.pins")

    init(_ store: PeerPinStore?) {
        self.store = store
    }

    /// Writes an entry to the disk. The completion runs on the writer's queue, after the entry was written or the write
    /// has failed.
    func save(_ entry: PinEntry, _ completion: @escaping @Sendable (PeerFailure?) -> Void) {
        queue.async { [store] in
            do throws(PeerFailure) {
                try store?.write(entry)
                completion(nil)
            } catch {
                completion(error)
            }
        }
    }

    func remove(_ id: UInt64) {
        queue.async { [store] in try? store?.remove(id) }
    }
}
