/// An operation in an offline queue, as stored in the journal.
package struct StoredOperation: Equatable, Sendable {
    /// One operation's rules.
    package struct Rules: Equatable, Sendable {
        /// The maximum age in milliseconds; 0 for no limit.
        package var maximumAge: Int64
        package var maximumAttempts: UInt32
        package var isIdempotent: Bool
        /// Whether the queue keeps a report on a success. Reports on other outcomes do not depend on this value.
        package var reportsSuccess: Bool

        package init(maximumAge: Int64, maximumAttempts: UInt32, isIdempotent: Bool, reportsSuccess: Bool) {
            self.maximumAge = maximumAge
            self.maximumAttempts = maximumAttempts
            self.isIdempotent = isIdempotent
            self.reportsSuccess = reportsSuccess
        }
    }

    /// The number of an operation's attempts, and the reason if its sending has stopped.
    package struct Progress: Equatable, Sendable {
        /// The number of attempts that may have reached the server.
        package var attempts: UInt32 = 0
        /// Whether an attempt has begun and its end is not known.
        package var isBegun = false
        package var stop: OfflineStop?

        package init(attempts: UInt32 = 0, isBegun: Bool = false, stop: OfflineStop? = nil) {
            self.attempts = attempts
            self.isBegun = isBegun
            self.stop = stop
        }

        /// Counts one more attempt that may have reached the server.
        package mutating func count() { if attempts < .max { attempts += 1 } }
    }

    package var id: UInt64
    package var lane: String
    package var message: StoredMessage
    /// The `Idempotency-Key` value, without quotation marks.
    package var key: String
    /// When the operation was queued, in milliseconds since 1970.
    package var created: Int64
    package var rules: Rules
    package var progress = Progress()

    package init(
        id: UInt64, lane: String, message: StoredMessage, key: String, created: Int64, rules: Rules,
        progress: Progress = Progress()
    ) {
        self.id = id
        self.lane = lane
        self.message = message
        self.key = key
        self.created = created
        self.rules = rules
        self.progress = progress
    }
}

/// An operation's request.
package struct StoredMessage: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A request's content.
    package enum Body: Equatable, Sendable {
        case none
        case inline([UInt8])
        /// A file in the queue's directory.
        case file(name: String, byteCount: Int64)
        /// A file of the program. The program must not change it. `changed` is the modification time that the file had,
        /// in nanoseconds since 1970.
        case reference(path: String, byteCount: Int64, changed: Int64)

        package var byteCount: Int64 {
            switch self {
            case .none: 0
            case .inline(let bytes): Int64(bytes.count)
            case .file(_, let count), .reference(_, let count, _): count
            }
        }

        /// The number of content bytes that the queue stores; 0 if the content is the program's own file.
        package var storedByteCount: Int64 { if case .reference = self { 0 } else { byteCount } }
    }

    package var method: String
    /// The encoded path and query, relative to the client's base URL, or an absolute URL.
    package var target: String
    /// The scheme, host and port of another server, separated by spaces, such as `https b.example 8443`. Each of the
    /// three parts may be empty. For the client's own server, the whole text is empty.
    package var origin: String
    package var fields: [Field]
    package var body: Body

    package init(method: String, target: String, origin: String = "", fields: [Field] = [], body: Body = .none) {
        self.method = method
        self.target = target
        self.origin = origin
        self.fields = fields
        self.body = body
    }
}

/// A request and a key that replace an operation's request and key.
package struct StoredRewrite: Equatable, Sendable {
    package var message: StoredMessage
    package var key: String

    package init(message: StoredMessage, key: String) {
        self.message = message
        self.key = key
    }
}

/// An operation's end, as stored in the journal.
package struct StoredReport: Equatable, Sendable {
    package var id: UInt64
    package var lane: String
    package var method: String
    package var target: String
    package var key: String
    package var attempts: UInt32
    /// When the operation ended, in milliseconds since 1970.
    package var ended: Int64
    package var outcome: OfflineOutcome

    package init(
        id: UInt64, lane: String, method: String, target: String, key: String, attempts: UInt32, ended: Int64,
        outcome: OfflineOutcome
    ) {
        self.id = id
        self.lane = lane
        self.method = method
        self.target = target
        self.key = key
        self.attempts = attempts
        self.ended = ended
        self.outcome = outcome
    }

    package init(_ operation: StoredOperation, _ outcome: OfflineOutcome, at date: Int64) {
        self.init(
            id: operation.id, lane: operation.lane, method: operation.message.method, target: operation.message.target,
            key: operation.key, attempts: operation.progress.attempts, ended: date, outcome: outcome)
    }
}
