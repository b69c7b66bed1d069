/// A value that only the thread of one loop accesses.
///
/// Values that are confined to a loop need no lock. This type is the only place that declares this to the compiler.
final class LoopBound<Value: ~Copyable>: Sendable {
    // SAFETY: the owner accesses the value only within `loop.execute` and in handlers of its loop. In debug builds, `value` asserts this,
    // so the tests of each owner check it.
    nonisolated(unsafe) private var storage: Value
    private let loop: any EventLoop

    init(_ value: consuming sending Value, to loop: any EventLoop) {
        storage = value
        self.loop = loop
    }

    var value: Value {
        _read {
            assert(loop.isCurrent, "touched off its loop")
            yield storage
        }
        _modify {
            assert(loop.isCurrent, "touched off its loop")
            yield &storage
        }
    }
}
