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

    /// The messages that still wait for a response. Each has a different message ID.
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

    /// Finds the query that answers a question. Identical questions of one cache partition share one query.
    struct QuestionIndex {
        private struct Key: Hashable {
            var name: DNSName
            var type: DNSRecordType
            var partition: UInt64

            init(_ question: DNSQuestion, _ partition: UInt64) {
                (name, type) = (question.name, question.type)
                self.partition = partition
            }
        }

        /// Running queries that new questions may join.
        private var open: [Key: UInt64] = [:]
        /// Maps each pending question to the query that asks it.
        private var queries: [QuestionID: UInt64] = [:]

        /// Adds a question. Returns the pending query that already asks the same question.
        ///
        /// Returns `nil` if there is no such query. The caller must then start a query under the question's number.
        mutating func add(_ id: QuestionID, _ question: DNSQuestion, in partition: UInt64) -> UInt64? {
            let key = Key(question, partition)
            let known = open[key]
            if known == nil { open[key] = id }
            queries[id] = known ?? id
            return known
        }

        /// Removes a question. Returns the query to which the question belongs. Returns `nil` if the question was
        /// already answered or cancelled.
        @discardableResult
        mutating func remove(_ id: QuestionID) -> UInt64? { queries.removeValue(forKey: id) }

        /// Ends a query. The next identical question then begins a new query.
        mutating func end(_ query: UInt64, _ question: DNSQuestion, in partition: UInt64) {
            let key = Key(question, partition)
            if open[key] == query { open[key] = nil }
        }

        /// Prevents new questions from joining the pending queries.
        mutating func closeAll() { open = [:] }
    }

    /// Queries that wait because too many messages are pending.
    struct Backlog {
        private var waiting: Deque<UInt64> = []
        /// The timer for the next burst: a limited number of further messages. Sending in bursts does not overflow the
        /// socket buffers.
        var timer: TimerHeap<UInt64>.ID?
        var isResuming = false

        var isEmpty: Bool { waiting.isEmpty }

        mutating func append(_ query: UInt64) { waiting.append(query) }

        mutating func popFirst() -> UInt64? { waiting.popFirst() }
    }
}
