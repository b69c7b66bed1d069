/// Holds a value from the program whose type is not `Sendable`, so that the value can move to another thread.
///
/// This type is a class, so that `===` shows whether two objects contain the same block.
// SAFETY: this class does not use the value. If the value is a block, it runs only on the queue that the program
// supplied with it. If the program stores a value under a key, it gets the value back unchanged, and must use it on the
// right thread, as on Apple platforms. `FramerTests` and `SecProtocolTests` check that values are returned unchanged.
package final class Unchecked<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) {
        self.value = value
    }
}
