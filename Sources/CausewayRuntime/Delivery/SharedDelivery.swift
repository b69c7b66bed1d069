internal import CausewaySystem
package import Dispatch

/// One queue's delivery, shared by all connections that use the queue. It exists while any connection holds a reference
/// to it.
///
/// The registry holds a weak reference to this object, not to the ``Delivery``: once a Swift object has had a weak
/// reference, each use of it costs several times as much.
package final class SharedDelivery: Sendable {
    private final class Reference: Sendable {
        private struct Box { weak var shared: SharedDelivery? }
        private let box: LockedValue<Box>
        init(_ shared: SharedDelivery) { box = LockedValue(Box(shared: shared)) }
        var shared: SharedDelivery? { box.withLock { $0.shared } }
    }

    private static let known = LockedValue<[ObjectIdentifier: Reference]>([:])

    /// Finds or creates a queue's shared delivery. A global queue has no order to preserve, so each call creates a new
    /// delivery for it.
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

    /// Returns a new delivery whose calls run on an event loop, when the event batch ends. The calls must not block.
    package static func on(_ loop: any EventLoop) -> SharedDelivery { SharedDelivery(Delivery(loop)) }

    package let delivery: Delivery

    private init(_ delivery: Delivery) { self.delivery = delivery }

    private convenience init(_ queue: DispatchQueue) { self.init(Delivery(queue)) }

    deinit {
        guard let queue else { return }
        let id = ObjectIdentifier(queue)
        let successor = Self.known.withLock { known in
            // The registry may already contain a new object for this queue, because the weak reference to this object
            // has become `nil`. Keep the new object.
            let successor = known[id]?.shared
            if successor == nil { known[id] = nil }
            return successor
        }
        // Release the new object here, outside the lock. This may be the last reference to it, and its `deinit` takes
        // the lock.
        withExtendedLifetime(successor) {}
    }

    /// The queue for the calls; `nil` if they run on an event loop.
    package var queue: DispatchQueue? { delivery.queue }

    /// Adds an item, like ``Delivery/add(_:)``.
    package func add(_ item: Delivery.Item) -> Bool { delivery.add(item) }

    /// Dispatches, like ``Delivery/dispatch()``.
    package func dispatch() { delivery.dispatch() }

    /// Adds an item and dispatches, like ``Delivery/post(_:)``.
    package func post(_ item: Delivery.Item) { delivery.post(item) }
}
