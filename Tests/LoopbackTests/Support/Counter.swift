import CausewaySystem

/// A thread-safe counter.
final class Counter: Sendable {
    private let number = LockedValue(0)

    var value: Int { number.withLock { number in number } }
    func increment(by step: Int = 1) { number.withLock { number in number += step } }
}
