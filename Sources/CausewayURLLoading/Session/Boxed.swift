/// A value in a separate allocation, for values that few tasks have.
///
/// A task without the value stores only a `nil` reference, so its objects stay small. The allocator serves objects up
/// to 1 KiB from a per-thread list, and is several times slower for larger objects.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
