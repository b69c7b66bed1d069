/// Records which callers wait for which job. Callers with equal requests share one job, each with its own priority.
///
/// The table runs no jobs. Its methods return what to do, and their caller starts and cancels jobs and resumes waiting
/// callers.
package struct JobTable<Key: Hashable & Sendable>: Sendable {
    package typealias JobID = UInt64
    package typealias CallerID = UInt64

    /// What changes for a job when a caller stops waiting or changes its own priority.
    package enum Change: Equatable, Sendable {
        case none
        /// The job's priority has changed to this value.
        case priority(JobID, ImagePriority)
        /// No caller waits for the job. Cancel it.
        case abandoned(JobID)
    }

    private struct Job: Sendable {
        var key: Key
        var priority: ImagePriority
        var callers: [CallerID: ImagePriority]
    }

    private var jobs: [JobID: Job] = [:]
    private var open: [Key: JobID] = [:]
    private var places: [CallerID: JobID] = [:]
    private var lastJob: JobID = 0

    package init() {}

    /// The number of waiting callers.
    package var callerCount: Int { places.count }

    /// Adds a caller.
    ///
    /// - Returns: The job, whether the job is new and must be started, and whether its priority has changed.
    package mutating func join(
        _ key: Key, as caller: CallerID, priority: ImagePriority
    ) -> (job: JobID, isNew: Bool, change: Change) {
        if let id = open[key] {
            jobs[id]?.callers[caller] = priority
            places[caller] = id
            return (id, false, refresh(id))
        }
        lastJob += 1
        jobs[lastJob] = Job(key: key, priority: priority, callers: [caller: priority])
        open[key] = lastJob
        places[caller] = lastJob
        return (lastJob, true, .none)
    }

    /// Changes a waiting caller's priority.
    package mutating func prioritize(_ caller: CallerID, _ priority: ImagePriority) -> Change {
        guard let id = places[caller] else { return .none }
        jobs[id]?.callers[caller] = priority
        return refresh(id)
    }

    /// Removes a cancelled caller.
    package mutating func leave(_ caller: CallerID) -> Change {
        guard let id = places.removeValue(forKey: caller) else { return .none }
        jobs[id]?.callers[caller] = nil
        guard let job = jobs[id], job.callers.isEmpty else { return refresh(id) }
        close(id, job.key)
        return .abandoned(id)
    }

    /// Ends a job.
    ///
    /// - Returns: The callers to resume. There are none if the job has ended before, or if all its callers were
    ///   cancelled.
    package mutating func ended(_ id: JobID) -> [CallerID] {
        guard let job = jobs[id] else { return [] }
        for caller in job.callers.keys { places[caller] = nil }
        close(id, job.key)
        return Array(job.callers.keys)
    }

    /// Returns the identifiers of the callers that wait for a job.
    package func callers(of id: JobID) -> [CallerID] { jobs[id].map { Array($0.callers.keys) } ?? [] }

    /// Returns whether any caller still waits for this job.
    package func isWanted(_ id: JobID) -> Bool { jobs[id] != nil }

    private mutating func close(_ id: JobID, _ key: Key) {
        jobs[id] = nil
        if open[key] == id { open[key] = nil }
    }

    /// Sets the job's priority to the highest among its callers.
    private mutating func refresh(_ id: JobID) -> Change {
        guard let job = jobs[id], let priority = job.callers.values.max(), priority != job.priority else {
            return .none
        }
        jobs[id]?.priority = priority
        return .priority(id, priority)
    }
}
