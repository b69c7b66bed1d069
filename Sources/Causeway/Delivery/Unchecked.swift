/// A value of the program's that the API declares without `Sendable`, on its way to the one place that uses it.
///
/// It has an identity, by which two holders of the same block are known to be equal.
// SAFETY: the value is not touched here. A block is called only on the queue that the program gave with it; a value kept
// under a key is handed back as it came, and what the program does with it on which thread is the program's affair, as
// on Apple platforms. `FramerTests` and `SecProtocolTests` show that values come back as they went in.
package final class Unchecked<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) {
        self.value = value
    }
}
