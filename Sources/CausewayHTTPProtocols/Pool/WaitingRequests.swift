internal import HeapModule

/// Requests that wait for a connection, by priority, then in order of arrival.
struct WaitingRequests: Sendable {
    private struct Place: Comparable, Sendable {
        var priority: Float
        var serial: UInt64
        var id: UInt64

        static func < (one: Place, other: Place) -> Bool {
            one.priority == other.priority ? one.serial > other.serial : one.priority < other.priority
        }
    }

    /// Queue entries for the requests. When a request is removed or its priority changes, its old entry stays here and
    /// is outdated. `current` contains the valid entry of each waiting request.
    private var order = Heap<Place>()
    private var current: [UInt64: Place] = [:]

    var count: Int { current.count }
    var isEmpty: Bool { current.isEmpty }
    /// The number of queue entries, including outdated entries.
    var entryCount: Int { order.count }

    mutating func insert(_ id: UInt64, priority: Float, serial: UInt64) {
        let place = Place(priority: Self.ordered(priority), serial: serial, id: id)
        current[id] = place
        order.insert(place)
    }

    /// Returns a priority that can be ordered: 0 instead of NaN, which cannot be ordered.
    private static func ordered(_ priority: Float) -> Float { priority.isNaN ? 0 : priority }

    /// - Returns: Whether the request was waiting.
    mutating func remove(_ id: UInt64) -> Bool {
        guard current.removeValue(forKey: id) != nil else { return false }
        compact()
        return true
    }

    /// Changes a request's priority. Among requests with equal priority, the request keeps its place in arrival order.
    mutating func reprioritize(_ id: UInt64, _ priority: Float) {
        guard let old = current[id], old.priority != Self.ordered(priority) else { return }
        insert(id, priority: priority, serial: old.serial)
        compact()
    }

    /// Removes outdated entries when they are the majority, so that repeated changes do not consume unbounded memory.
    private mutating func compact() {
        if current.isEmpty {
            order = Heap()
        } else if order.count > 2 * current.count + 64 {
            order = Heap(current.values)
        }
    }

    mutating func popFirst() -> UInt64? {
        while let place = order.popMax() {
            guard current[place.id] == place else { continue }
            current[place.id] = nil
            return place.id
        }
        return nil
    }

    /// Removes all requests and returns them in order.
    mutating func takeAll() -> [UInt64] {
        var all: [UInt64] = []
        all.reserveCapacity(count)
        while let next = popFirst() { all.append(next) }
        return all
    }
}
