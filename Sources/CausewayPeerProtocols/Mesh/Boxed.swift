/// A copy-on-write box: copies of a large value share storage until one changes.
///
/// The mesh reads links and members many times per frame. Without the box, each read would copy dozens of references.
@dynamicMemberLookup
struct Boxed<Value: Sendable>: Sendable {
    /// The value, stored as the only element of an array. Arrays are copy-on-write, so a copy of the box does not copy
    /// the value.
    private var storage: [Value]

    init(_ value: Value) { storage = [value] }

    subscript<Field>(dynamicMember path: KeyPath<Value, Field>) -> Field {
        @inline(__always) _read { yield storage[0][keyPath: path] }
    }

    subscript<Field>(dynamicMember path: WritableKeyPath<Value, Field>) -> Field {
        @inline(__always) _read { yield storage[0][keyPath: path] }
        @inline(__always) _modify { yield &storage[0][keyPath: path] }
    }
}
