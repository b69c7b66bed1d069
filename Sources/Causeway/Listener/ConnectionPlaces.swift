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

    /// Lets the listener accept one new connection for each ended connection, if its limit has reached 0. The limit
    /// decreases with each accepted connection. Call this when a connection has arrived.
    package func refill() { freed.withLock { give(&$0) } }

    /// Raises the limit, but only when it is 0. Above 0 the listener may accept a connection and decrement the limit at
    /// the same time, and this write would undo the decrement.
    private func give(_ freed: inout Int) {
        guard freed > 0, listener.newConnectionLimit == 0 else { return }
        listener.newConnectionLimit = freed
        freed = 0
    }
}
