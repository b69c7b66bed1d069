internal import DequeModule
internal import Foundation

/// An operation's time limit. The time runs while the operation is the first in its queue, and stops while the task is
/// suspended.
struct OperationLimit: Sendable {
    private var rest: Duration?
    private(set) var deadline: Duration?

    /// - Parameter seconds: The limit in seconds; 0 for none.
    init(_ seconds: TimeInterval) {
        // A time limit is at most 1e10 seconds. This is longer than any process runs, and small enough that sums do not
        // overflow.
        rest = seconds > 0 ? .seconds(min(seconds, 1e10)) : nil
    }

    /// Starts the operation's time limit. After a pause, continues it with the remaining time.
    mutating func run(at now: Duration) {
        guard deadline == nil, let rest else { return }
        deadline = now + rest
    }

    mutating func pause(at now: Duration) {
        guard let deadline else { return }
        rest = max(deadline - now, .zero)
        self.deadline = nil
    }

    func isOver(at now: Duration) -> Bool { deadline.map { $0 <= now } ?? false }
}

/// A queued read.
struct StreamRead: Sendable {
    typealias Handler = @Sendable (Data?, Bool, (any Error)?) -> Void

    enum Kind: Sendable {
        case bytes(minimum: Int, maximum: Int, Handler)
        case close
    }

    var number: Int
    var kind: Kind
    var limit: OperationLimit

    var minimum: Int {
        if case .bytes(let minimum, _, _) = kind { minimum } else { 0 }
    }
}

/// A queued write.
struct StreamWrite: Sendable {
    typealias Handler = @Sendable ((any Error)?) -> Void

    enum Kind: Sendable {
        case bytes(Data, Handler)
        case close
    }

    var number: Int
    var kind: Kind
    var limit: OperationLimit
    /// The number of bytes that the connection has accepted.
    var sent = 0
}

/// The reads and writes before the next operation that changes the whole connection: the start of TLS, or the
/// conversion to streams. The reads run independently of the writes.
struct StreamBatch: Sendable {
    /// A change to the whole connection: the start of TLS (`secure`), or the conversion of the task to streams
    /// (`capture`). It happens after all earlier reads and writes.
    enum Change: Sendable {
        case secure
        case capture
    }

    var reads: Deque<StreamRead> = []
    var writes: Deque<StreamWrite> = []
    var change: Change?
}
