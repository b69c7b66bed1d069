/// A value in an allocation of its own, for values that few tasks have.
///
/// An optional box keeps the objects of the other tasks small: the allocator serves objects of up to 1 KiB from a list of each thread, and
/// larger ones several times as slowly.
indirect enum Boxed<Value: Sendable>: Sendable {
    case value(Value)

    init(_ value: Value) { self = .value(value) }

    var value: Value {
        switch self {
        case .value(let value): value
        }
    }
}
