internal import HeapModule

/// Deadlines by member. Reading the next deadline takes constant time, a change takes amortized logarithmic time.
///
/// Members with equal deadlines are returned in the order in which the deadlines were set. A changed deadline leaves
/// its outdated item in the heap; the heap is rebuilt when it exceeds twice the member count plus 64.
struct DeadlineIndex<ID: Hashable & Sendable>: Sendable {
    private struct Moment: Sendable {
        var time: Duration
        var serial: UInt64
    }

    private struct Item: Comparable, Sendable {
        var moment: Moment
        var id: ID

        static func < (left: Item, right: Item) -> Bool {
            (left.moment.time, left.moment.serial) < (right.moment.time, right.moment.serial)
        }
        static func == (left: Item, right: Item) -> Bool { left.moment.serial == right.moment.serial }
    }

    private var items = Heap<Item>()
    /// For each member, the one heap item that is valid. All other heap items for this member are outdated.
    private var current: [ID: Moment] = [:]
    private var serial: UInt64 = 0
    /// Maximum capacity that the dictionary keeps when it is empty. When the last member is removed from a larger
    /// dictionary, a new dictionary replaces it.
    private static var keptCapacity: Int { 512 }

    init() {}

    var isEmpty: Bool { current.isEmpty }
    var count: Int { current.count }

    /// The earliest deadline. It is always valid, because each change removes outdated items from the top of the heap.
    var next: Duration? { items.min?.moment.time }

    /// The identifier with the earliest deadline; `nil` if there is none.
    var first: ID? { items.min?.id }

    subscript(id: ID) -> Duration? {
        get { current[id]?.time }
        set {
            guard newValue != current[id]?.time else { return }
            if let newValue {
                serial += 1
                let moment = Moment(time: newValue, serial: serial)
                current[id] = moment
                items.insert(Item(moment: moment, id: id))
            } else {
                current[id] = nil
            }
            tidy()
        }
    }

    /// Removes and returns the member with the earliest deadline, if this deadline has passed.
    mutating func popDue(at now: Duration) -> ID? {
        guard let first = items.min, first.moment.time <= now else { return nil }
        current[first.id] = nil
        tidy()
        return first.id
    }

    /// Removes and returns all members whose deadlines are at or before `now`.
    mutating func takeDue(at now: Duration) -> [ID] {
        var due: [ID] = []
        while let id = popDue(at: now) { due.append(id) }
        return due
    }

    private mutating func tidy() {
        while let first = items.min, current[first.id]?.serial != first.moment.serial { _ = items.popMin() }
        // Rebuild the heap if it contains many outdated items. Otherwise frequent deadline changes would make it grow.
        if items.count > 2 * current.count + 64 { items = Heap(current.map { Item(moment: $1, id: $0) }) }
        // Release the memory that was allocated for a peak.
        if current.isEmpty, current.capacity > Self.keptCapacity { (items, current) = (Heap(), [:]) }
    }
}
