internal import DequeModule

/// Limits the number of requests that run at the same time. Further requests wait, and they start in the order of their
/// arrival.
struct AdmissionQueue: Sendable {
    /// The maximum number of running requests.
    private(set) var limit: Int
    private(set) var runningCount = 0
    private var waiting: Deque<UInt64> = []

    init(limit: Int) { self.limit = max(limit, 1) }

    /// The number of waiting requests.
    var waitingCount: Int { waiting.count }

    /// Returns whether a new request may run at once. Otherwise the request is added to the waiting requests.
    mutating func arrived(_ id: UInt64) -> Bool {
        guard runningCount < limit, waiting.isEmpty else {
            waiting.append(id)
            return false
        }
        runningCount += 1
        return true
    }

    /// Ends a running request.
    ///
    /// - Returns: The requests that may run now.
    mutating func ended() -> [UInt64] {
        runningCount = max(runningCount - 1, 0)
        return admitted()
    }

    /// Removes a cancelled request. Returns `true` if the request was still waiting.
    mutating func abandoned(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(of: id) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Changes the limit. Running requests are not affected.
    ///
    /// - Returns: The requests that may run now.
    mutating func limitChanged(to limit: Int) -> [UInt64] {
        self.limit = max(limit, 1)
        return admitted()
    }

    private mutating func admitted() -> [UInt64] {
        var ids: [UInt64] = []
        while runningCount < limit, let id = waiting.popFirst() {
            runningCount += 1
            ids.append(id)
        }
        return ids
    }
}
