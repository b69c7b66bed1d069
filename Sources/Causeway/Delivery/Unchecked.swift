/// Holds a value of the program whose type is not declared `Sendable`, so that the value can be passed to the thread that uses it.
///
/// This type is a class, so that identity shows whether two owners hold the same block.
// SAFETY: this class does not use the value. A block runs only on the queue that the program supplied with it. A value stored under a key
// is returned unchanged, and the program is responsible for the thread that uses it, as on Apple platforms. `FramerTests` and
// `SecProtocolTests` check that values are returned unchanged.
package final class Unchecked<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) {
        self.value = value
    }
}
