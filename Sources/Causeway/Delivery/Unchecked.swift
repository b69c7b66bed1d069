/// Holds a value from the program whose type is not `Sendable`, so that the value can move to another thread.
///
/// This type is a class, so that `===` shows whether two objects contain the same block.
// SAFETY: this class does not use the value. A block runs only on its queue, which the program supplied. A value stored under a key is
// returned unchanged, and the program is responsible for using it on the right thread, as on Apple platforms. `FramerTests` and
// `SecProtocolTests` check that values are returned unchanged.
package final class Unchecked<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) {
        self.value = value
    }
}
