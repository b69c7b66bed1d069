internal import CausewaySystem
package import Dispatch

/// The delivery of a queue, shared by all connections that use it: it is there as long as one of them holds this.
///
/// Not the delivery itself is found through the queue: it would be referenced weakly, and each use of such an object costs several times
/// as much for ever after.
package final class SharedDelivery: Sendable {
    private final class Reference: Sendable {
        private struct Box { weak var shared: SharedDelivery? }
        private let box: LockedValue<Box>
        init(_ shared: SharedDelivery) { box = LockedValue(Box(shared: shared)) }
        var shared: SharedDelivery? { box.withLock { $0.shared } }
    }

    private static let known = LockedValue<[ObjectIdentifier: Reference]>([:])

    /// Finds or makes the one of a queue. A global queue keeps no order that could be shared.
    package static func on(_ queue: DispatchQueue) -> SharedDelivery {
        if Delivery.isGlobal(queue) { return SharedDelivery(queue) }
        let id = ObjectIdentifier(queue)
        return known.withLock { known in
            if let shared = known[id]?.shared { return shared }
            let shared = SharedDelivery(queue)
            known[id] = Reference(shared)
            return shared
        }
    }

    package let delivery: Delivery

    private init(_ queue: DispatchQueue) { delivery = Delivery(queue) }

    deinit {
        let id = ObjectIdentifier(queue)
        let successor = Self.known.withLock { known in
            // Another one may have taken this one's place already.
            let successor = known[id]?.shared
            if successor == nil { known[id] = nil }
            return successor
        }
        // This may be its last reference: its own end must not come under the lock.
        withExtendedLifetime(successor) {}
    }

    package var queue: DispatchQueue { delivery.queue }

    /// As ``Delivery/add(_:)``.
    package func add(_ item: Delivery.Item) -> Bool { delivery.add(item) }

    /// As ``Delivery/dispatch()``.
    package func dispatch() { delivery.dispatch() }

    /// As ``Delivery/post(_:)``.
    package func post(_ item: Delivery.Item) { delivery.post(item) }
}
