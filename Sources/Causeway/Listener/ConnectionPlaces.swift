internal import CausewaySystem

/// Limits a listener's open connections. Connections above the limit wait in the kernel's accept queue.
package final class ConnectionPlaces: Sendable {
    private let listener: NWListener
    /// The number of connections that have ended since the listener's limit was last raised.
    private let freed = LockedValue(0)

    /// Sets the listener's connection limit. Create this object before the listener starts.
    ///
    /// - Parameter count: The maximum number of open connections.
    package init(of listener: NWListener, count: Int) {
        self.listener = listener
        listener.newConnectionLimit = count
    }

    /// Allows the listener to accept another connection. Call this when a connection has ended.
    package func free() {
        freed.withLock { freed in
            freed += 1
            give(&freed)
        }
    }

    /// Allows new connections in place of connections that have ended. Raises the listener's connection limit only if
    /// it is 0, by one for each ended connection. Each accepted connection lowers the limit by one. Call this method
    /// when a connection has arrived.
    package func refill() { freed.withLock { give(&$0) } }

    /// Raises the listener's connection limit if the limit is 0. With a higher limit, the listener might accept a
    /// connection and lower the limit at the same time. This write would then undo that change.
    private func give(_ freed: inout Int) {
        guard freed > 0, listener.newConnectionLimit == 0 else { return }
        listener.newConnectionLimit = freed
        freed = 0
    }
}
