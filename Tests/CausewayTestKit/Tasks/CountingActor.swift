internal import Dispatch
internal import Synchronization

/// An actor that counts the jobs that its executor runs. If a task leaves the actor for a nonisolated function, its
/// return adds one job.
public actor CountingActor {
    private nonisolated let executor = CountingExecutor()

    /// Creates an actor with its own serial queue.
    public init() {}

    /// The executor that counts.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The number of jobs that were given to the executor so far.
    public nonisolated var jobCount: Int { executor.jobCount.load(ordering: .relaxed) }

    /// Runs a function on the actor.
    public func run<Result: Sendable>(
        _ body: @Sendable (isolated CountingActor) async throws -> Result
    ) async rethrows -> Result {
        try await body(self)
    }
}

private final class CountingExecutor: SerialExecutor {
    let jobCount = Atomic(0)
    private let queue = DispatchQueue(label: "causeway.test.counting-actor")

    func enqueue(_ job: consuming ExecutorJob) {
        jobCount.add(1, ordering: .relaxed)
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
