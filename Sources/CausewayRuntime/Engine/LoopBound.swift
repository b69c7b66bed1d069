/// A value that one loop's thread alone touches.
///
/// What is confined to a loop needs no lock; this is the one place that says so to the compiler.
final class LoopBound<Value: ~Copyable>: Sendable {
    // SAFETY: the owner reaches the value from within `loop.execute` and from handlers of its loop only; `value` checks it in debug
    // builds, so every test of such an owner does.
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
