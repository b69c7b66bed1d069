internal import CausewayWire
internal import DequeModule

extension DNSClient {
    /// The pending messages. No two of them have the same message ID.
    struct ExchangeTable {
        private var pending: [ExchangeID: Exchange] = [:]
        private var usedIDs: Set<UInt16> = []

        var count: Int { pending.count }

        subscript(_ id: ExchangeID) -> Exchange? { pending[id] }

        /// Returns a message ID that no pending message has.
        func unusedID(using random: inout some RandomNumberGenerator) -> UInt16 {
            while true {
                let id = UInt16(truncatingIfNeeded: random.next())
                if !usedIDs.contains(id) { return id }
            }
        }

        mutating func add(_ exchange: Exchange, as id: ExchangeID) {
            pending[id] = exchange
            usedIDs.insert(exchange.id)
        }

        mutating func remove(_ id: ExchangeID) -> Exchange? {
            guard let exchange = pending.removeValue(forKey: id) else { return nil }
            usedIDs.remove(exchange.id)
            return exchange
        }
    }

    /// Finds the query that answers a question. Identical questions share one query.
    struct QuestionIndex {
        private struct Key: Hashable {
            var name: DNSName
            var type: DNSRecordType

            init(_ question: DNSQuestion) { (name, type) = (question.name, question.type) }
        }

        private var queries: [Key: UInt64] = [:]
        private var keys: [QuestionID: Key] = [:]

        /// Adds a question. Returns the query that already asks the same question. If there is none, returns `nil`; the
        /// question then begins a query, which has the question's number.
        mutating func add(_ id: QuestionID, _ question: DNSQuestion) -> UInt64? {
            let key = Key(question)
            keys[id] = key
            if let known = queries[key] { return known }
            queries[key] = id
            return nil
        }

        /// Removes a question. Returns its query; `nil` if the question was answered or cancelled.
        @discardableResult
        mutating func remove(_ id: QuestionID) -> UInt64? { keys.removeValue(forKey: id).flatMap { queries[$0] } }

        /// Ends a query, so that the next identical question begins another one.
        mutating func end(_ query: UInt64, _ question: DNSQuestion) {
            let key = Key(question)
            if queries[key] == query { queries[key] = nil }
        }
    }

    /// Queries that wait until fewer messages are pending.
    struct Backlog {
        private var waiting: Deque<UInt64> = []
        /// The timer that sends the next burst.
        var timer: TimerHeap<UInt64>.ID?
        var isResuming = false

        var isEmpty: Bool { waiting.isEmpty }

        mutating func append(_ query: UInt64) { waiting.append(query) }

        mutating func popFirst() -> UInt64? { waiting.popFirst() }
    }
}

/// The attempts to get one answer, in order.
struct DNSAttemptPlan {
    private var attempts: [DNSAttempt]
    private var position = 0

    init(_ attempts: [DNSAttempt]) { self.attempts = attempts }

    /// The next attempt; `nil` if none is left.
    var next: DNSAttempt? { position < attempts.count ? attempts[position] : nil }
    var isAtLast: Bool { position + 1 == attempts.count }

    mutating func advance() { position += 1 }

    /// Repeats the latest attempt.
    mutating func stepBack() { position = max(0, position - 1) }

    /// Removes a server's spare attempts after it has answered or turned out to be unreachable: another form of the
    /// query, for example without EDNS, would not help.
    mutating func dropSpares(of server: DNSServer) {
        let left = attempts.dropFirst(position).filter { !$0.isSpare || $0.server != server }
        attempts = attempts.prefix(position) + left
    }

    /// Adds an attempt with a server whose last response was not usable.
    mutating func addSpare(_ server: DNSServer) {
        guard !attempts.dropFirst(position).contains(where: { $0.server == server }) else { return }
        attempts.append(DNSAttempt(server: server, round: attempts.last?.round ?? 0, isSpare: true))
    }
}

/// The CNAME records from a question's name to the name that is queried now.
struct DNSAliasChain {
    /// The maximum number of additional queries.
    private static let queryLimit = 8

    /// The name at the end of the chain so far, which is the name to query.
    private(set) var target: DNSName
    private(set) var records: [DNSRecord] = []
    /// The smallest time to live of the records; `nil` without records.
    private(set) var lifetime: Duration?
    private var queryCount = 0

    init(_ name: DNSName) { target = name }

    /// Adds records that lead to another name. Returns `false` if the chain is too long or leads back to itself.
    mutating func follow(to target: DNSName, _ records: [DNSRecord], _ timeToLive: Duration) -> Bool {
        queryCount += 1
        self.records += records
        lifetime = min(lifetime ?? timeToLive, timeToLive)
        self.target = target
        let isCircle = self.records.contains { $0.name == target }
        return queryCount <= Self.queryLimit && self.records.count <= DNSInterpretation.aliasLimit && !isCircle
    }
}
