package import HeapModule

/// A priority queue of timers. Each timer has an identifier for cancellation. The heap reads no clock.
///
/// When a timer is cancelled, its entry stays in the heap at first. If a large heap consists mostly of such entries,
/// they are removed. The methods are inlinable because all event loops use them for all timers, and unspecialized
/// generic code is slow.
package struct TimerHeap<Body>: ~Copyable {
    package typealias ID = UInt64

    @usableFromInline var heap = Heap<TimerEntry>()
    @usableFromInline var bodies: [ID: Body] = [:]
    @usableFromInline var lastID: ID = 0

    @inlinable package init() {}

    @inlinable package var count: Int { bodies.count }

    /// The earliest deadline of an active timer.
    @inlinable package mutating func nextDeadline() -> Duration? {
        while let first = heap.min {
            if bodies[first.id] != nil { return first.deadline }
            heap.removeMin()
        }
        return nil
    }

    @inlinable package mutating func add(at deadline: Duration, _ body: Body) -> ID {
        lastID += 1
        bodies[lastID] = body
        heap.insert(TimerEntry(deadline: deadline, id: lastID))
        return lastID
    }

    /// Cancels a timer. Returns the timer's body, or `nil` if the timer has fired or was already cancelled.
    @discardableResult
    @inlinable package mutating func cancel(_ id: ID) -> Body? {
        let body = bodies.removeValue(forKey: id)
        if heap.count > 64, heap.count > 2 * bodies.count {
            heap = Heap(heap.unordered.filter { bodies[$0.id] != nil })
        }
        return body
    }

    /// Removes and returns the timer with the earliest deadline, if it is due.
    @inlinable package mutating func popDue(at now: Duration) -> Body? {
        guard let deadline = nextDeadline(), deadline <= now, let entry = heap.popMin() else { return nil }
        return bodies.removeValue(forKey: entry.id)
    }
}

/// A timer's entry in ``TimerHeap``: the timer's deadline and identifier.
///
/// This type is outside the generic heap type. Inside it, Swift would look up this type's metadata again for each type
/// of timer body.
@usableFromInline struct TimerEntry: Comparable {
    @usableFromInline var deadline: Duration
    @usableFromInline var id: UInt64

    @inlinable init(deadline: Duration, id: UInt64) {
        self.deadline = deadline
        self.id = id
    }

    /// Timers with equal deadlines fire in the order in which they were added.
    @inlinable static func < (a: TimerEntry, b: TimerEntry) -> Bool {
        a.deadline == b.deadline ? a.id < b.id : a.deadline < b.deadline
    }
}
