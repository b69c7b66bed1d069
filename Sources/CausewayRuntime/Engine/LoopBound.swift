/// A value accessed only on one loop's thread.
///
/// Such a value needs no lock. This type declares that to the compiler, so that its users need no `nonisolated(unsafe)`.
final class LoopBound<Value: ~Copyable>: Sendable {
    // SAFETY: the object that owns this value accesses it only within `loop.execute` and in handlers of its loop. In
    // debug builds `value` asserts this, so the object's tests check this rule.
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
