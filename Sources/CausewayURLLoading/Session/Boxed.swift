/// A value in a separate allocation, for values that few tasks have.
///
/// A reference keeps other tasks' objects small: the allocator serves objects up to 1 KiB from a per-thread list, and larger ones several
/// times as slowly.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
