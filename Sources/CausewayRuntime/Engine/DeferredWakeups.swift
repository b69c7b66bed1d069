internal import CausewaySystem
internal import Dispatch

/// Collects the calls and task resumptions from one batch of events, and hands them to other threads when the batch
/// ends. If these threads share the loop's processor, the loop also yields the processor to them.
///
/// A resumed task may run at once and add more work. A class permits such a nested call: in a structure, it would be an
/// overlapping access to the members.
final class DeferredWakeups {
    /// The number of tasks that one pool thread resumes for the loop. Below the minimum, the switch to a pool thread
    /// costs more than it saves; above the maximum, tasks would wait longer than necessary.
    private static let tasksAtOnce = (minimum: 4, maximum: 32)

    private let calls = Ring<@Sendable () -> Void>()
    private let tasks = Ring<OffLoopTask>()
    private var yieldPolicy = YieldPolicy()
    private var isGiven = false

    func add(_ call: @escaping @Sendable () -> Void) { calls.append(call) }

    func add(_ task: OffLoopTask) {
        tasks.append(task)
        if tasks.count == Self.tasksAtOnce.maximum { resumeTasks() }
    }

    func flush() {
        if !tasks.isEmpty { resumeTasks() }
        guard !calls.isEmpty else { return }
        isGiven = true
        while let call = calls.popFirst() { call() }
    }

    /// Resumes the collected tasks, on a Dispatch pool thread if there are many.
    ///
    /// For each task that the loop itself resumes, it wakes another thread. On a shared processor, that thread preempts
    /// the loop, runs the task and sleeps again.
    private func resumeTasks() {
        isGiven = true
        guard tasks.count >= Self.tasksAtOnce.minimum else {
            while let task = tasks.popFirst() { task.resume() }
            return
        }
        var taken: [OffLoopTask] = []
        taken.reserveCapacity(tasks.count)
        while let task = tasks.popFirst() { taken.append(task) }
        DispatchQueue.global().async { [taken] in
            for task in taken { task.resume() }
        }
    }

    /// Ends one iteration of the event loop, in which `eventCount` events were handled. Yields the processor if the
    /// iteration gave work to other threads and ``YieldPolicy`` allows it.
    func endTurn(eventCount: Int) {
        guard isGiven else { return }
        isGiven = false
        let began = System.now
        guard yieldPolicy.isDue(eventCount: eventCount, at: began) else { return }
        System.giveWay()
        yieldPolicy.note(eventCount: eventCount, from: began, to: System.now)
    }
}
