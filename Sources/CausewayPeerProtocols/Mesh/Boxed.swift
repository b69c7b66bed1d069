/// A large value that is cheap to copy: copies share it until one of them changes.
///
/// The mesh looks at links and members many times for each frame. As plain structures, each look would copy dozens of references.
@dynamicMemberLookup
struct Boxed<Value: Sendable>: Sendable {
    /// One element: arrays share their storage until they change.
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
