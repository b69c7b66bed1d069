import CausewaySystem

/// Records the requests that a scripted server has received, as texts. Also counts the server's connections.
final class ConnectionLog: Sendable {
    private let list = LockedValue<[String]>([])
    private let count = LockedValue(0)

    var all: [String] { list.withLock { $0 } }

    func append(_ text: String) { list.withLock { $0.append(text) } }

    /// Returns the number of a new connection, from 1 on.
    func nextConnection() -> Int {
        count.withLock { count -> Int in
            count += 1
            return count
        }
    }
}
