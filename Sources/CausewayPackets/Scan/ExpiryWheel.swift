/// A timer wheel for probe timeouts, with a resolution of ten milliseconds. A timeout cannot exceed ``reach``.
struct ExpiryWheel: Sendable {
    struct Entry: Sendable {
        var probe: UInt32
        var attempt: UInt8
    }

    static let slot: Int64 = 10_000
    private static let count = 512
    /// The maximum timeout, in microseconds.
    static let reach = slot * Int64(count - 2)

    private var slots: [[Entry]] = Array(repeating: [], count: count)
    /// The number of the first time slot that has not expired. A slot is 10 ms long.
    private var current: Int64 = 0
    private var held = 0

    mutating func add(_ entry: Entry, at time: Int64) {
        let slot = min(max((time + Self.slot - 1) / Self.slot, current), current + Int64(Self.count - 1))
        slots[Int(slot % Int64(Self.count))].append(entry)
        held += 1
    }

    /// Removes the entries that have expired by `now`.
    mutating func take(_ now: Int64, into expired: inout [Entry]) {
        let last = now / Self.slot
        guard held > 0 else {
            current = max(current, last + 1)
            return
        }
        while current <= last {
            let index = Int(current % Int64(Self.count))
            if !slots[index].isEmpty {
                held -= slots[index].count
                expired += slots[index]
                slots[index].removeAll(keepingCapacity: true)
                if held == 0 {
                    current = last
                }
            }
            current += 1
        }
    }

    /// Removes and returns all entries. The caller can then add them again with new times.
    mutating func takeAll() -> [Entry] {
        var all: [Entry] = []
        all.reserveCapacity(held)
        for index in slots.indices {
            all += slots[index]
            slots[index].removeAll(keepingCapacity: true)
        }
        held = 0
        return all
    }

    /// The next expiry time, or `nil` if the wheel is empty.
    var next: Int64? {
        guard held > 0 else { return nil }
        for ahead in 0..<Int64(Self.count) where !slots[Int((current + ahead) % Int64(Self.count))].isEmpty {
            return (current + ahead) * Self.slot
        }
        return nil
    }
}
