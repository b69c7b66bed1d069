package import HeapModule

/// Deadlines in order, each with a number to cancel it by. It reads no clock.
///
/// Cancelling is cheap and leaves a stone behind; when stones outnumber the living, they are swept. Inlinable, for every timer of every
/// loop goes through here, and generic code is slow in other modules.
package struct TimerHeap<Body>: ~Copyable {
    package typealias ID = UInt64

    @usableFromInline var heap = Heap<TimerEntry>()
    @usableFromInline var bodies: [ID: Body] = [:]
    @usableFromInline var lastID: ID = 0

    @inlinable package init() {}

    @inlinable package var count: Int { bodies.count }

    /// The earliest deadline of a living timer.
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

    /// Returns the timer's body unless it has fired or been cancelled before.
    @discardableResult
    @inlinable package mutating func cancel(_ id: ID) -> Body? {
        let body = bodies.removeValue(forKey: id)
        if heap.count > 64, heap.count > 2 * bodies.count {
            heap = Heap(heap.unordered.filter { bodies[$0.id] != nil })
        }
        return body
    }

    /// Removes and returns one timer that is due, in order of deadline.
    @inlinable package mutating func popDue(at now: Duration) -> Body? {
        guard let deadline = nextDeadline(), deadline <= now, let entry = heap.popMin() else { return nil }
        return bodies.removeValue(forKey: entry.id)
    }
}

/// One deadline. Not within ``TimerHeap``, where it would be a type of its own for each body, found anew at each use.
@usableFromInline struct TimerEntry: Comparable {
    @usableFromInline var deadline: Duration
    @usableFromInline var id: UInt64

    @inlinable init(deadline: Duration, id: UInt64) {
        self.deadline = deadline
        self.id = id
    }

    /// Timers with the same deadline fire in the order in which they were set.
    @inlinable static func < (a: TimerEntry, b: TimerEntry) -> Bool {
        a.deadline == b.deadline ? a.id < b.id : a.deadline < b.deadline
    }
}
