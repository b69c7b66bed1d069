import CausewayTestKit
import CausewayTypes
import Synchronization
import Testing

/// Checks that a `MachineTrial` detects a machine that breaks a law.
@Suite("Machines that break a law")
struct BrokenMachineTests {
    /// A deliberate fault of a ``BrokenMachine``.
    enum Fault: CaseIterable, Sendable {
        case none
        case readsForeignState, endsTwice, actsAfterEnd, revokesEnd, endsWithoutReport, keepsDeadlineAfterEnd
        case actsTooEarly, repeatsDueAction, movesDeadline, keepsPastDeadline
        case neverEnds, neverAwaitsTime

        var law: MachineLaw? {
            switch self {
            case .none: nil
            case .readsForeignState: .givesEqualHistories
            case .endsTwice, .actsAfterEnd, .revokesEnd, .endsWithoutReport, .keepsDeadlineAfterEnd: .endsOnce
            case .actsTooEarly, .repeatsDueAction, .movesDeadline: .timersAreHarmless
            case .keepsPastDeadline: .statesNextDeadline
            case .neverEnds, .neverAwaitsTime: .isTested
            }
        }
    }

    @Test("A trial finds each fault and names the broken law", arguments: Fault.allCases)
    func findsFault(_ fault: Fault) {
        let trial = MachineTrial("BrokenMachine", model: ()) { _ in
            BrokenMachine(fault: fault)
        } event: { machine, _, now, random in
            random.chance(oneIn: 6) ? machine.ended() : machine.started(at: now)
        }.ending { $0 == .end }
        #expect(trial.breaches(seeds: 0..<100).map(\.law) == (fault.law.map { [$0] } ?? []))
    }
}

/// A test machine with one fault. After each start, it acts once every second until it ends.
private struct BrokenMachine: ReturningMachine {
    enum Action: Equatable {
        case act(Int)
        case end
    }

    private static let calls = Atomic<Int>(0)

    let fault: BrokenMachineTests.Fault
    private(set) var hasEnded = false
    private(set) var deadline: Duration?

    init(fault: BrokenMachineTests.Fault) { self.fault = fault }

    mutating func started(at now: Duration) -> [Action] {
        if hasEnded {
            if fault == .revokesEnd { hasEnded = false }
            return fault == .actsAfterEnd ? [.act(0)] : []
        }
        if fault != .neverAwaitsTime { deadline = now + .seconds(1) }
        return [.act(fault == .readsForeignState ? Self.calls.add(1, ordering: .relaxed).newValue : 1)]
    }

    mutating func ended() -> [Action] {
        guard !hasEnded || fault == .endsTwice, fault != .neverEnds else { return [] }
        hasEnded = true
        if fault != .keepsDeadlineAfterEnd { deadline = nil }
        return fault == .endsWithoutReport ? [] : [.end]
    }

    mutating func advance(to now: Duration) -> [Action] {
        if fault == .movesDeadline, let due = deadline, due > now { deadline = now + .seconds(1) }
        guard let due = deadline, now >= due - (fault == .actsTooEarly ? .milliseconds(600) : .zero) else {
            return fault == .repeatsDueAction && !hasEnded ? [.act(3)] : []
        }
        if fault != .keepsPastDeadline { deadline = nil }
        return [.act(2)]
    }
}
