/// Why the offline engine cannot do what the program asks for. Failures of operations are no errors: they are ``OfflineReport`` values.
public struct OfflineError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        /// The directory or a file in it cannot be used or written: for example, the disk is full. The queue is as before.
        public static let storage = Code(description: "storage failed")
        /// Another process, or another engine of this process, uses the directory.
        public static let inUse = Code(description: "directory in use")
        /// The journal was written by another version, or is no journal. It is not changed.
        public static let foreignJournal = Code(description: "foreign journal")
        /// The request cannot be queued: its method is not POST, PUT, PATCH or DELETE, or the client cannot send it.
        public static let invalidRequest = Code(description: "invalid request")
        /// A limit of ``/CausewayReplay/OfflineLimits`` is reached.
        public static let full = Code(description: "queue full")
        /// There is no operation with this identifier.
        public static let unknownOperation = Code(description: "unknown operation")
        /// The operation is being sent, or is not stopped, so that the change is not possible now.
        public static let busy = Code(description: "operation busy")
        /// Both operations of a move must be in one lane.
        public static let otherLane = Code(description: "other lane")
        /// The engine is running already.
        public static let running = Code(description: "already running")
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, and what to do, in words.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure in one line.
    public var description: String { "\(code): \(message)" }
}
