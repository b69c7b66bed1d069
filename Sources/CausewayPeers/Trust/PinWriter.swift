internal import CausewayPeerProtocols
internal import Dispatch

/// Writes the keys that a node records, in order, on a queue for the disk. Without a store it only answers.
final class PinWriter: Sendable {
    private let store: PeerPinStore?
    private let queue = DispatchQueue(label: "causeway.peers.pins")

    init(_ store: PeerPinStore?) {
        self.store = store
    }

    /// The completion runs on the queue of the writer, when the entry is on the disk or could not be written.
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
