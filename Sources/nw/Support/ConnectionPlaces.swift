import Causeway
import Synchronization

/// Bounds the connections of a listener that are open at once. Further ones wait in the kernel's queue.
final class ConnectionPlaces: Sendable {
    private let listener: NWListener
    /// Places that became free and that the listener has not been given again.
    private let freed = Mutex(0)

    /// - Parameter count: Connections that may be open at once. Create the bound before the listener starts.
    init(of listener: NWListener, count: Int) {
        self.listener = listener
        listener.newConnectionLimit = count
    }

    /// Call when a connection has ended.
    func free() {
        freed.withLock { freed in
            freed += 1
            give(&freed)
        }
    }

    /// Call when a connection has arrived: it may have taken the last place while others are free again.
    func refill() {
        freed.withLock { give(&$0) }
    }

    /// The listener counts down while it accepts. At 0 it accepts nothing, so that no count is lost.
    private func give(_ freed: inout Int) {
        guard freed > 0, listener.newConnectionLimit == 0 else { return }
        listener.newConnectionLimit = freed
        freed = 0
    }
}
