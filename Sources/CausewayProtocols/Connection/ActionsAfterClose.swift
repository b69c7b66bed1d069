/// Actions that wait until certain sockets are closed.
///
/// One example is the action that notifies the program that a listener or group has ended. After this notification, the
/// program can use the port again immediately.
struct ActionsAfterClose<Element: Sendable>: Sendable {
    private var waiting: [Element] = []
    /// The number of requested closings that have not been completed.
    private var closingCount = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// Records a request to close sockets, and adds the actions that must wait until these sockets are closed.
    mutating func begin(then actions: [Element] = []) {
        closingCount += 1
        waiting += actions
    }

    /// Records that a closing is complete. When no closing is left, removes and returns the actions that waited.
    mutating func closed() -> [Element] {
        guard closingCount > 0 else { return [] }
        closingCount -= 1
        guard closingCount == 0 else { return [] }
        defer { waiting = [] }
        return waiting
    }
}
