internal import Causeway

/// Lets a listener accept connections in batches: the next batch begins when the node has taken the whole previous
/// batch. A flood then waits in the kernel's accept queue, and not in descriptors and memory of this process.
final class AcceptBatch: Sendable {
    private static let size = 64

    private let taken = LockedValue(0)

    /// Call this before the listener starts.
    init(of listener: NWListener) { listener.newConnectionLimit = Self.size }

    /// Records that the node has taken a connection.
    func took(_ listener: NWListener?) {
        let isComplete = taken.withLock { taken in
            taken = (taken + 1) % Self.size
            return taken == 0
        }
        if isComplete { listener?.newConnectionLimit = Self.size }
    }
}
