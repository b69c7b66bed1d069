package import CausewayTypes

/// Random events for one state machine, from which the five laws of ARCHITECTURE.md are tested.
///
/// Each seed makes one machine and one history: events in random order, with early, late and repeated timers between them. A machine that
/// traps ends the test process.
package struct MachineTrial<Machine: StateMachine & ~Copyable, Model: Sendable>: MachineTesting {
    package let name: String
    private let model: Model
    private let make: @Sendable (inout SplitMix64) -> Machine
    private let event: @Sendable (inout Machine, inout Model, Duration, inout SplitMix64) -> [Machine.Action]
    /// Stores values that later events need, for example an identifier.
    private var note: @Sendable (inout Model, Machine.Action) -> Void = { _, _ in }
    private var isEnd: (@Sendable (Machine.Action) -> Bool)?
    /// Whether an action only repeats what the owner knows, for example the deadline.
    private var isReminder: @Sendable (Machine.Action) -> Bool = { _ in false }
    private var mayFollowEnd: @Sendable (Machine.Action) -> Bool = { _ in false }
    private var awaitsTime = true
    private var comparison = MachineHistoryComparison.exact

    /// - Parameters:
    ///   - name: The type's name, which `Scripts/check-machines` looks for.
    ///   - model: Values that the events need besides the machine, as they are at the start of each history.
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

    /// Declares the action that reports the end. Some seed must reach it.
    ///
    /// - Parameter mayFollowEnd: Whether an action is permitted after the end, for example to release a late socket.
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

    /// Declares that the machine awaits no time. Otherwise some seed must reach a deadline.
    package func untimed() -> Self {
        var copy = self
        copy.awaitsTime = false
        return copy
    }

    /// Declares how far two histories of one seed are equal, for a machine that iterates over hash tables.
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
        // Some histories begin late, so that a time that was not set is not mistaken for zero.
        var now = Duration.seconds(random.integer(in: 0...2) * 1_000)
        let count = random.integer(in: 1...60)
        for _ in 0..<count where history.breach == nil {
            step(&machine, &model, &now, &random, &history)
        }
        settle(&machine, &model, now, &history)
        return history
    }

    /// Reports an event or passes time.
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

    /// Calls the timer before its deadline. Nothing may happen.
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

    /// Takes the due actions, twice. The second call may do nothing, and the deadline must be in the future.
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

    /// Lets the time run to each next deadline, without events.
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

/// The events of one seed, and their results.
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
