package import CausewayTypes

/// Tests the five laws of ARCHITECTURE.md on one state machine, with random events.
///
/// Each seed makes one machine and one sequence of events in random order. Between the events, timers expire early,
/// late or repeatedly. A machine that traps ends the test process.
package struct MachineTrial<Machine: StateMachine & ~Copyable, Model: Sendable>: MachineTesting {
    package let name: String
    private let model: Model
    private let make: @Sendable (inout SplitMix64) -> Machine
    private let event: @Sendable (inout Machine, inout Model, Duration, inout SplitMix64) -> [Machine.Action]
    /// A closure that stores values from an action in the model, for example an identifier. Later events need these
    /// values.
    private var note: @Sendable (inout Model, Machine.Action) -> Void = { _, _ in }
    private var isEnd: (@Sendable (Machine.Action) -> Bool)?
    /// Whether an action only repeats information that the owner already has, such as the deadline.
    private var isReminder: @Sendable (Machine.Action) -> Bool = { _ in false }
    private var mayFollowEnd: @Sendable (Machine.Action) -> Bool = { _ in false }
    private var awaitsTime = true
    private var comparison = MachineHistoryComparison.exact

    /// - Parameters:
    ///   - name: The name of the state machine's type. The script `Scripts/check-machines` looks for this name.
    ///   - model: Values that the events need in addition to the machine. Every history starts with these values.
    package init(
        _ name: String, model: Model, make: @escaping @Sendable (inout SplitMix64) -> Machine,
        event: @escaping @Sendable (inout Machine, inout Model, Duration, inout SplitMix64) -> [Machine.Action]
    ) {
        self.name = name
        self.model = model
        self.make = make
        self.event = event
    }

    package func noting(_ note: @escaping @Sendable (inout Model, Machine.Action) -> Void) -> Self {
        var copy = self
        copy.note = note
        return copy
    }

    /// Declares which action reports the machine's end. At least one seed must lead to this action.
    ///
    /// - Parameter mayFollowEnd: Returns whether an action is permitted after the end. An example is the release of a
    ///   late socket.
    package func ending(
        with isEnd: @escaping @Sendable (Machine.Action) -> Bool,
        mayFollowEnd: @escaping @Sendable (Machine.Action) -> Bool = { _ in false }
    ) -> Self {
        var copy = self
        (copy.isEnd, copy.mayFollowEnd) = (isEnd, mayFollowEnd)
        return copy
    }

    package func ignoring(_ isReminder: @escaping @Sendable (Machine.Action) -> Bool) -> Self {
        var copy = self
        copy.isReminder = isReminder
        return copy
    }

    /// Declares that the machine has no deadlines. Without this declaration, the trial fails if no seed leads to a
    /// deadline.
    package func untimed() -> Self {
        var copy = self
        copy.awaitsTime = false
        return copy
    }

    /// Declares how two runs with the same seed are compared. Runs can differ if a machine iterates over hash tables.
    package func comparing(_ comparison: MachineHistoryComparison) -> Self {
        var copy = self
        copy.comparison = comparison
        return copy
    }

    package func breaches(seeds: Range<UInt64>) -> [LawBreach] {
        var (hadEnd, hadDeadline) = (false, false)
        for seed in seeds {
            var first = history(seed)
            if first.breach == nil, comparison != .none {
                let second = history(seed).lines
                if let (line, other) = zip(first.lines, second).first(where: { $0 != $1 }) {
                    first.breach = (.givesEqualHistories, "two histories of the seed differ: \(line) | \(other)")
                }
            }
            if let (law, text) = first.breach {
                return [LawBreach(machine: name, seed: seed, law: law, text: text, history: first.lines)]
            }
            hadEnd = hadEnd || first.endCount > 0
            hadDeadline = hadDeadline || first.deadlineCount > 0
        }
        var vacuous: [String] = []
        if isEnd != nil, !hadEnd { vacuous.append("no seed reaches the end") }
        if awaitsTime, !hadDeadline { vacuous.append("no seed reaches a deadline") }
        return vacuous.map { LawBreach(machine: name, seed: seeds.lowerBound, law: .isTested, text: $0, history: []) }
    }

    private func history(_ seed: UInt64) -> MachineHistory {
        var random = SplitMix64(seed: seed)
        var history = MachineHistory()
        var machine = make(&random)
        var model = model
        // Let some histories begin at a late time. Otherwise a time that was not set could be mistaken for time zero.
        var now = Duration.seconds(random.integer(in: 0...2) * 1_000)
        let count = random.integer(in: 1...60)
        for _ in 0..<count where history.breach == nil {
            step(&machine, &model, &now, &random, &history)
        }
        settle(&machine, &model, now, &history)
        return history
    }

    /// Reports a random event to the machine, or advances the time.
    private func step(
        _ machine: inout Machine, _ model: inout Model, _ now: inout Duration, _ random: inout SplitMix64,
        _ history: inout MachineHistory
    ) {
        let deadline = machine.deadline
        switch random.integer(in: 0...9) {
        case 0: now += .milliseconds(random.integer(in: 1...100))
        case 1: if let deadline { now = max(now, deadline) }
        case 2: now = max(now, deadline ?? now) + .milliseconds(random.integer(in: 1...20_000))
        case 3:
            guard let deadline, deadline - now > .milliseconds(1) else { break }
            now += (deadline - now) / random.integer(in: 2...10)
            return passEarly(&machine, &model, now, deadline, &history)
        default:
            let hadEnded = machine.hasEnded
            let actions = event(&machine, &model, now, &random)
            record(actions, hadEnded: hadEnded, "event", &model, now, &history)
        }
        pass(&machine, &model, now, &history)
    }

    /// Calls the machine's timer before the machine's deadline. The call must change nothing.
    private func passEarly(
        _ machine: inout Machine, _ model: inout Model, _ now: Duration, _ deadline: Duration,
        _ history: inout MachineHistory
    ) {
        let actions = machine.takeActions(dueAt: now)
        record(actions, hadEnded: machine.hasEnded, "early", &model, now, &history)
        if !actions.allSatisfy(isReminder) || machine.deadline != deadline {
            history.break(.timersAreHarmless, "an early timer has an effect at \(now), before \(deadline)")
        }
    }

    /// Takes all due actions, and then tries again. The second call must return no actions, and the new deadline must
    /// be in the future.
    private func pass(
        _ machine: inout Machine, _ model: inout Model, _ now: Duration, _ history: inout MachineHistory
    ) {
        let hadEnded = machine.hasEnded
        record(machine.takeActions(dueAt: now), hadEnded: hadEnded, "time", &model, now, &history)
        let deadline = machine.deadline
        if let deadline {
            history.deadlineCount += 1
            if deadline <= now { history.break(.statesNextDeadline, "the deadline \(deadline) has passed at \(now)") }
            if machine.hasEnded { history.break(.endsOnce, "a deadline after the end") }
        }
        let again = machine.takeActions(dueAt: now)
        record(again, hadEnded: machine.hasEnded, "again", &model, now, &history)
        if !again.allSatisfy(isReminder) || machine.deadline != deadline {
            history.break(.timersAreHarmless, "a repeated timer has an effect at \(now)")
        }
        checkEnd(machine.hasEnded, &history)
    }

    /// Advances the time to each next deadline, without any events.
    private func settle(
        _ machine: inout Machine, _ model: inout Model, _ start: Duration, _ history: inout MachineHistory
    ) {
        var now = start
        for _ in 0..<20 where history.breach == nil {
            guard let deadline = machine.deadline else { return }
            now = max(now, deadline)
            pass(&machine, &model, now, &history)
        }
    }

    private func record(
        _ actions: [Machine.Action], hadEnded: Bool, _ cause: String, _ model: inout Model, _ now: Duration,
        _ history: inout MachineHistory
    ) {
        let isAfterEnd = isEnd == nil ? hadEnded : history.endCount > 0
        var texts = actions.map { "\($0)" }
        if comparison == .withoutOrder { texts.sort() }
        history.lines.append("\(now) \(cause): \(texts.joined(separator: ", "))")
        for action in actions {
            note(&model, action)
            if isEnd?(action) == true {
                history.endCount += 1
                if history.endCount > 1 { history.break(.endsOnce, "a second end: \(action)") }
            }
            if isAfterEnd, !isReminder(action), !mayFollowEnd(action) {
                history.break(.endsOnce, "an action after the end: \(action)")
            }
        }
    }

    private func checkEnd(_ hasEnded: Bool, _ history: inout MachineHistory) {
        if history.hasEnded, !hasEnded { history.break(.endsOnce, "the end is revoked") }
        history.hasEnded = hasEnded
        guard isEnd != nil, hasEnded != (history.endCount > 0) else { return }
        history.break(.endsOnce, hasEnded ? "an end without a report" : "a report of the end without an end")
    }
}

/// A random sequence of events, with the results that the machine returned.
private struct MachineHistory {
    var lines: [String] = []
    var breach: (MachineLaw, String)?
    var endCount = 0
    var deadlineCount = 0
    var hasEnded = false

    mutating func `break`(_ law: MachineLaw, _ text: String) {
        if breach == nil { breach = (law, text) }
    }
}
