/// A value that only the thread of one loop accesses.
///
/// Such a value needs no lock. This type declares this to the compiler, so that its users need no
/// `nonisolated(unsafe)`.
final class LoopBound<Value: ~Copyable>: Sendable {
    // SAFETY: the object that owns this value accesses it only within `loop.execute` and in handlers that its loop
    // calls. In debug builds, `value` asserts this. So the tests of the object check this rule.
    nonisolated(unsafe) private var storage: Value
    private let loop: any EventLoop

    init(_ value: consuming sending Value, to loop: any EventLoop) {
        storage = value
        self.loop = loop
    }

    var value: Value {
        _read {
            assert(loop.isCurrent, "accessed outside its event loop")
            yield storage
        }
        _modify {
            assert(loop.isCurrent, "accessed outside its event loop")
            yield &storage
        }
    }
}
