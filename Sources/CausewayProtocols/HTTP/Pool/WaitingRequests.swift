internal import HeapModule

/// Requests that wait for a connection, by priority, then in the order in which they came.
struct WaitingRequests: Sendable {
    private struct Place: Comparable, Sendable {
        var priority: Float
        var serial: UInt64
        var id: UInt64

        static func < (one: Place, other: Place) -> Bool {
            one.priority == other.priority ? one.serial > other.serial : one.priority < other.priority
        }
    }

    /// The places in the order of service. A place that differs from the one in `current` is out of date.
    private var order = Heap<Place>()
    private var current: [UInt64: Place] = [:]

    var count: Int { current.count }
    var isEmpty: Bool { current.isEmpty }

    mutating func insert(_ id: UInt64, priority: Float, serial: UInt64) {
        // A priority that is not a number has no place in an order.
        let place = Place(priority: priority.isNaN ? 0 : priority, serial: serial, id: id)
        current[id] = place
        order.insert(place)
    }

    /// - Returns: Whether the request was waiting.
    mutating func remove(_ id: UInt64) -> Bool {
        guard current.removeValue(forKey: id) != nil else { return false }
        if current.isEmpty { order = Heap() }
        return true
    }

    /// Changes the priority of a request. Among equals it keeps its place.
    mutating func reprioritize(_ id: UInt64, _ priority: Float) {
        guard let old = current[id], !priority.isNaN, old.priority != priority else { return }
        insert(id, priority: priority, serial: old.serial)
        // Many changes must not fill the memory with places that are out of date.
        if order.count > 2 * current.count + 64 { order = Heap(current.values) }
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
