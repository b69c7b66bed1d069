/// An error in a call to the offline engine. A failed operation is not an error: it has an ``OfflineReport``.
public struct OfflineError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The directory or a file in it cannot be used or written, for example because the disk is full.
        public static let storage = Code(description: "storage failed")
        /// Another process, or another engine in this process, uses the directory.
        public static let inUse = Code(description: "directory in use")
        /// The journal was written by another version, or is not a journal. It is not changed.
        public static let foreignJournal = Code(description: "foreign journal")
        /// The request cannot be queued: its method is not POST, PUT, PATCH or DELETE, or the client cannot send it.
        public static let invalidRequest = Code(description: "invalid request")
        /// A limit in ``/CausewayHTTPProtocols/OfflineLimits`` is reached.
        public static let full = Code(description: "queue full")
        /// There is no operation with this identifier.
        public static let unknownOperation = Code(description: "unknown operation")
        /// The change is not possible now, because the operation is being sent or waits for the resolver's decision.
        /// For ``OfflineEngine/resume(_:)``, the operation has not stopped.
        public static let busy = Code(description: "operation busy")
        /// The two operations of a move are in different lanes. A lane is a sequence of operations that are sent one
        /// after the other.
        public static let otherLane = Code(description: "other lane")
        /// The engine is already running.
        public static let running = Code(description: "already running")
    }

    /// The kind of failure.
    public let code: Code
    /// A human-readable message: what failed, and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure in one line.
    public var description: String { "\(code): \(message)" }
}
