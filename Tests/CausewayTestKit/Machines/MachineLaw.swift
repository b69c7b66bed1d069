internal import FoundationEssentials

/// The laws of state machines, as far as a test can observe them. A trap and an endless loop end the test process.
package enum MachineLaw: Sendable {
    /// Equal seeds give equal histories: the machine reads no clock and no other source of chance.
    case givesEqualHistories
    case endsOnce
    case timersAreHarmless
    /// After the due actions were taken, the next deadline is in the future.
    case statesNextDeadline
    /// The trial reaches the declared end, and a deadline.
    case isTested
}

/// How two histories of one seed are compared.
package enum MachineHistoryComparison: Sendable {
    case exact
    /// Actions of one event may change their order.
    case withoutOrder
    case none
}

/// The first violation of a law by one machine, with the history that leads to it.
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

/// A ``MachineTrial`` of any machine.
package protocol MachineTesting: Sendable, CustomStringConvertible {
    var name: String { get }

    /// Runs one history per seed. Returns the first breach; empty if the machine obeys the laws.
    func breaches(seeds: Range<UInt64>) -> [LawBreach]
}

extension MachineTesting {
    package var description: String { name }
}

/// The seeds of each trial. `CAUSEWAY_MACHINE_SEEDS=10000` runs that many.
package enum MachineSeeds {
    package static let usual = 60

    package static var range: Range<UInt64> {
        let count = ProcessInfo.processInfo.environment["CAUSEWAY_MACHINE_SEEDS"].flatMap(UInt64.init)
        return 0..<(count ?? UInt64(usual))
    }
}
