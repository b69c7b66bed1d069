internal import FoundationEssentials

/// The rules for state machines that a test can observe. If a machine traps or loops forever, the test process ends.
package enum MachineLaw: Sendable {
    /// Equal seeds give equal histories: the machine reads no clock and no other source of chance.
    case givesEqualHistories
    case endsOnce
    case timersAreHarmless
    /// After a machine has returned all due actions, its next deadline lies in the future.
    case statesNextDeadline
    /// The trial reaches its declared end, and at least one deadline.
    case isTested
}

/// How strictly two runs with the same seed must agree.
package enum MachineHistoryComparison: Sendable {
    case exact
    /// The actions that one event causes may come in a different order.
    case withoutOrder
    case none
}

/// The first rule that a state machine violated. Includes the history before the violation.
package struct LawBreach: Sendable, CustomStringConvertible {
    package let machine: String
    package let seed: UInt64
    package let law: MachineLaw
    package let text: String
    package let history: [String]

    package var description: String {
        let lines = history.suffix(12).map { "\n  " + $0.prefix(400) }.joined()
        return "\(machine) breaks \(law) with seed \(seed): \(text)\(lines)"
    }
}

/// Any ``MachineTrial``, for a machine of any type.
package protocol MachineTesting: Sendable, CustomStringConvertible {
    var name: String { get }

    /// Runs one history of events per seed. Returns the first violation of a law. The result is empty if the machine
    /// obeys all laws.
    func breaches(seeds: Range<UInt64>) -> [LawBreach]
}

extension MachineTesting {
    package var description: String { name }
}

/// The random seeds with which each test runs. If `CAUSEWAY_MACHINE_SEEDS=10000` is set in the environment, each test
/// runs with 10000 seeds.
package enum MachineSeeds {
    package static let usual = 60

    package static var range: Range<UInt64> {
        let count = ProcessInfo.processInfo.environment["CAUSEWAY_MACHINE_SEEDS"].flatMap(UInt64.init)
        return 0..<(count ?? UInt64(usual))
    }
}
