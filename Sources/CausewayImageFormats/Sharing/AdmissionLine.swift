/// How urgently an image is needed. It can change while the image is loaded.
public enum ImagePriority: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// For images that may be needed later.
    case prefetch
    case low
    case normal
    case high
    /// For images that are visible to the user.
    case immediate

    /// Compares the urgency.
    public static func < (a: ImagePriority, b: ImagePriority) -> Bool { a.rawValue < b.rawValue }
}

/// A priority queue for jobs: a limited number run at a time, the most urgent first, equal ones in arrival order.
package struct AdmissionLine: Sendable {
    package typealias ID = UInt64

    private struct Lane: Sendable {
        /// Jobs in order. Jobs that were cancelled or changed priority are removed when their turn comes.
        var order: [ID] = []
        var start = 0
    }

    /// The maximum number of running jobs.
    package let limit: Int
    private var runningCount = 0
    private var lanes = [Lane](repeating: Lane(), count: ImagePriority.allCases.count)
    private var waiting: [ID: ImagePriority] = [:]

    package init(limit: Int) { self.limit = max(limit, 1) }

    /// The number of waiting jobs.
    package var waitingCount: Int { waiting.count }

    /// Returns whether a new job may run at once. Otherwise it waits.
    package mutating func arrived(_ id: ID, _ priority: ImagePriority) -> Bool {
        if runningCount < limit {
            runningCount += 1
            return true
        }
        waiting[id] = priority
        lanes[priority.rawValue].order.append(id)
        return false
    }

    /// Changes a waiting job's priority. It queues behind the jobs that have this priority.
    package mutating func prioritize(_ id: ID, _ priority: ImagePriority) {
        guard let old = waiting[id], old != priority else { return }
        waiting[id] = priority
        lanes[priority.rawValue].order.append(id)
    }

    /// Removes a cancelled job. Returns whether it was waiting.
    package mutating func abandoned(_ id: ID) -> Bool { waiting.removeValue(forKey: id) != nil }

    /// Ends a running job.
    ///
    /// - Returns: The next job to run.
    package mutating func ended() -> ID? {
        runningCount -= 1
        for priority in ImagePriority.allCases.reversed() {
            while let id = pop(priority.rawValue) {
                guard waiting[id] == priority else { continue }
                waiting[id] = nil
                runningCount += 1
                return id
            }
        }
        return nil
    }

    private mutating func pop(_ lane: Int) -> ID? {
        let start = lanes[lane].start
        guard start < lanes[lane].order.count else { return nil }
        let id = lanes[lane].order[start]
        lanes[lane].start += 1
        if start > 64, start * 2 > lanes[lane].order.count {
            lanes[lane].order.removeFirst(start + 1)
            lanes[lane].start = 0
        }
        return id
    }
}
