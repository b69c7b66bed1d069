internal import CausewaySystem
internal import Dispatch

/// Collects the calls and task resumptions of one batch of events, and hands them to other threads when the batch ends.
///
/// If these threads share the loop's processor, the loop also yields the processor to them.
///
/// This type is a class because of nested calls. A resumed task may run at once and add more work. In a structure, such
/// a call would overlap with an access to the members.
final class DeferredWakeups {
    /// How many tasks one pool thread resumes for the event loop. With fewer tasks than the minimum, the switch to a
    /// pool thread costs more time than it saves. With more tasks than the maximum, tasks would wait too long.
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

    /// Resumes the collected tasks. If there are many, resumes them on a Dispatch pool thread.
    ///
    /// If the loop itself resumes a task, it wakes another thread for each task. On a shared processor, this thread
    /// preempts the loop, runs the task and sleeps again.
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

    /// Ends an iteration of the event loop that handled `eventCount` events.
    ///
    /// If the iteration gave work to other threads, and if ``YieldPolicy`` allows it, yields the processor to them.
    func endTurn(eventCount: Int) {
        guard isGiven else { return }
        isGiven = false
        let began = System.now
        guard yieldPolicy.isDue(eventCount: eventCount, at: began) else { return }
        System.giveWay()
        yieldPolicy.note(eventCount: eventCount, from: began, to: System.now)
    }
}
