internal import CausewaySystem
internal import Dispatch

/// What a batch of events leaves to other threads. They are given all of it at once, and the processor with it, should they share
/// the loop's.
///
/// An object whose members are touched for a moment only: whoever is resumed may run at once, and hand over more.
final class DeferredWakeups {
    /// Tasks that one thread resumes for the loop. Fewer are not worth the way there; more would wait for it without need.
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

    /// Each task that the loop itself resumes wakes a thread, which takes the processor from the loop if they share it, runs that
    /// one task, and sleeps again. So a thread of the pool resumes them.
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

    /// The turn is over, in which so many events came.
    func endTurn(eventCount: Int) {
        guard isGiven else { return }
        isGiven = false
        let began = System.now
        guard yieldPolicy.isDue(eventCount: eventCount, at: began) else { return }
        System.giveWay()
        yieldPolicy.note(eventCount: eventCount, from: began, to: System.now)
    }
}
