/// A value in a separate allocation, for values that few tasks have.
///
/// The reference keeps the objects of all other tasks small: the allocator serves objects up to 1 KiB from a per-thread
/// list, and is several times slower for larger objects.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
