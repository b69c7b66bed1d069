internal import CausewayWire
internal import DequeModule

extension DNSClient {
    /// A message sent to a server, with its response pending.
    struct Exchange {
        let query: UInt64
        let server: DNSServer
        let carrier: DNSCarrier
        let id: UInt16
        let question: DNSQuestion
        let sentAt: Duration
        let hasExtensions: Bool
        /// Whether the name was sent with random case. The response must then repeat the name with the same case.
        let hasRandomCase: Bool
    }

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

        /// Ends a query, so that the next identical question begins a new query.
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
