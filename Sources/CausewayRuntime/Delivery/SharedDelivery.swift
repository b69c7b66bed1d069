internal import CausewaySystem
package import Dispatch

/// The delivery for one queue, shared by all connections that use the queue. It exists while any connection refers to
/// it.
///
/// The registry has a weak reference to this object, and not to the ``Delivery``. The reason is that each use of a
/// Swift object costs several times as much after the object has had a weak reference.
package final class SharedDelivery: Sendable {
    private final class Reference: Sendable {
        private struct Box { weak var shared: SharedDelivery? }
        private let box: LockedValue<Box>
        init(_ shared: SharedDelivery) { box = LockedValue(Box(shared: shared)) }
        var shared: SharedDelivery? { box.withLock { $0.shared } }
    }

    private static let known = LockedValue<[ObjectIdentifier: Reference]>([:])

    /// Returns the delivery for a queue. All users of the queue share it. Creates the delivery if needed. A global
    /// queue has no fixed order, so each call creates a new delivery for it.
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
            // The weak reference to this object is already `nil`, so the registry may contain a new object for this
            // queue. Keep the new object.
            let successor = known[id]?.shared
            if successor == nil { known[id] = nil }
            return successor
        }
        // Keep the object until here, where the lock is released. This may be the last reference to the object, and its
        // `deinit` takes the same lock.
        withExtendedLifetime(successor) {}
    }

    /// The queue for the calls; `nil` if they run on an event loop.
    package var queue: DispatchQueue? { delivery.queue }

    /// Adds an item, like ``Delivery/add(_:)``.
    package func add(_ item: Delivery.Item) -> Bool { delivery.add(item) }

    /// Starts delivering the queued items, like ``Delivery/dispatch()``.
    package func dispatch() { delivery.dispatch() }

    /// Adds an item and dispatches, like ``Delivery/post(_:)``.
    package func post(_ item: Delivery.Item) { delivery.post(item) }
}
