internal import HeapModule

/// Deadlines in order, each with a number to cancel it by. It reads no clock.
///
/// Cancelling is cheap and leaves a stone behind; when stones outnumber the living, they are swept.
package struct TimerHeap<Body>: ~Copyable {
    package typealias ID = UInt64

    private struct Entry: Comparable {
        var deadline: Duration
        var id: ID

        /// Timers with the same deadline fire in the order in which they were set.
        static func < (a: Entry, b: Entry) -> Bool {
            a.deadline == b.deadline ? a.id < b.id : a.deadline < b.deadline
        }
    }

    private var heap = Heap<Entry>()
    private var bodies: [ID: Body] = [:]
    private var lastID: ID = 0

    package init() {}

    package var count: Int { bodies.count }

    /// The earliest deadline of a living timer.
    package mutating func nextDeadline() -> Duration? {
        while let first = heap.min {
            if bodies[first.id] != nil { return first.deadline }
            heap.removeMin()
        }
        return nil
    }

    package mutating func add(at deadline: Duration, _ body: Body) -> ID {
        lastID += 1
        bodies[lastID] = body
        heap.insert(Entry(deadline: deadline, id: lastID))
        return lastID
    }

    /// Returns the timer's body unless it has fired or been cancelled before.
    @discardableResult
    package mutating func cancel(_ id: ID) -> Body? {
        let body = bodies.removeValue(forKey: id)
        if heap.count > 64, heap.count > 2 * bodies.count {
            heap = Heap(heap.unordered.filter { bodies[$0.id] != nil })
        }
        return body
    }

    /// Removes and returns one timer that is due, in order of deadline.
    package mutating func popDue(at now: Duration) -> Body? {
        guard let deadline = nextDeadline(), deadline <= now, let entry = heap.popMin() else { return nil }
        return bodies.removeValue(forKey: entry.id)
    }
}
