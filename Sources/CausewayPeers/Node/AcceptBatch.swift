internal import Causeway

/// Lets a listener accept connections in batches. The next batch begins when the node has taken the whole previous
/// batch.
///
/// During a flood, connections then wait in the kernel's accept queue. They use no descriptors and no memory of this
/// process.
final class AcceptBatch: Sendable {
    private static let size = 64

    private let taken = LockedValue(0)

    /// Sets the first limit for the listener. Call this before the listener is started.
    init(of listener: NWListener) { listener.newConnectionLimit = Self.size }

    /// Counts a connection that the node has accepted. After a complete batch, lets the listener accept the next batch.
    func took(_ listener: NWListener?) {
        let isComplete = taken.withLock { taken in
            taken = (taken + 1) % Self.size
            return taken == 0
        }
        if isComplete { listener?.newConnectionLimit = Self.size }
    }
}
