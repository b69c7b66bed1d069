/// A value in a separate allocation, for values that few tasks have.
///
/// A reference keeps the objects of the other tasks small: the allocator serves objects of up to 1 KiB from a list of each thread, and larger
/// ones several times as slowly.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
