package import CausewayWire
internal import DequeModule

/// Asks DNS servers, and asks again where they say nothing (RFC 1035 §7, RFC 5452).
///
/// The client owns no sockets and reads no clock. Its owner performs the ``Action``s that each event returns, hands it the bytes that
/// come from the very server and socket a question went to, and calls ``advance(to:)`` at ``nextDeadline``. Equal questions are asked
/// once. What is remembered, and for whom, is ``ResolverCache``'s business.
package struct DNSClient: ~Copyable {
    package typealias QuestionID = UInt64
    package typealias ExchangeID = UInt64

    package enum Action: Equatable, Sendable {
        /// Send this, and give what comes back with the message's ID to ``received(_:for:at:)``. Where `carrier` is TCP, without the length.
        case send(ExchangeID, [UInt8], id: UInt16, to: DNSServer, over: DNSCarrier)
        /// Nobody wants this answer any more.
        case forget(ExchangeID)
        case answer(QuestionID, DNSAnswer)
    }

    /// One message that was sent.
    struct Exchange {
        var asking: UInt64
        var server: DNSServer
        var carrier: DNSCarrier
        var id: UInt16
        var question: DNSQuestion
        var sentAt: Duration
        var hasExtensions: Bool
        /// The question's case was chosen at random, and the answer has to repeat it.
        var hasRandomCase: Bool
    }

    /// One question with all that was done for it.
    struct Asking {
        let question: DNSQuestion
        /// Where aliases have led.
        var target: DNSName
        var aliases: [DNSRecord] = []
        var aliasLifetime: Duration?
        var askers: [QuestionID]
        let startedAt: Duration
        /// Servers in the order of asking, each as often as it is asked.
        var plan: [DNSAttempt]
        var next = 0
        var exchanges: [ExchangeID] = []
        var failure: DNSFailure?
        /// The server that ``failure`` is about.
        var failedServer: DNSServer?
        /// What an answer held that was too long for a datagram; its whole did not come over TCP yet.
        var partial: DNSAnswer?
        var timer: TimerHeap<UInt64>.ID?
        /// Counts the times that aliases had to be asked for.
        var follows = 0
    }

    struct QuestionKey: Hashable {
        var name: DNSName
        var type: DNSRecordType
    }

    /// Bytes of an answer that every path carries whole (RFC 9715 §3).
    static let payloadByteCount: UInt16 = 1_232
    /// Messages under way; a message's ID has 16 bits, and a forger must not find most of them in use.
    static let exchangeLimit = 4_096
    /// Messages that are sent without waiting for an answer to one of them: the usual socket buffer of a server, and ours, has room for
    /// little more, and what does not fit is lost.
    package static let burst = 200
    /// How long there is no answer before as many again are sent: what was sent before has been taken by then, or is lost.
    package static let pause: Duration = .milliseconds(100)

    package var settings: ResolverConfiguration.Options
    package private(set) var servers: [DNSServer]
    var health: [DNSServer: ServerHealth] = [:]
    var askings: [UInt64: Asking] = [:]
    var exchanges: [ExchangeID: Exchange] = [:]
    private var byKey: [QuestionKey: UInt64] = [:]
    private var keys: [QuestionID: QuestionKey] = [:]
    private var usedIDs: Set<UInt16> = []
    private var timers = TimerHeap<UInt64>()
    var lastID: UInt64 = 0
    var rotation = 0
    /// Waiting for room.
    private var backlog: Deque<UInt64> = []
    /// When more of them are sent whatever was answered. Its body is no asking's number.
    private var backlogTimer: TimerHeap<UInt64>.ID?
    private var isResuming = false
    var random: any RandomNumberGenerator & Sendable

    package init(
        _ servers: [DNSServer], _ settings: ResolverConfiguration.Options = .init(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.servers = servers
        self.settings = settings
        self.random = random
    }

    package var isIdle: Bool { askings.isEmpty }

    package var nextDeadline: Duration? {
        mutating get { timers.nextDeadline() }
    }

    /// Other servers from now on; what is under way goes on with the old ones.
    package mutating func use(_ servers: [DNSServer], _ settings: ResolverConfiguration.Options) {
        self.servers = servers
        self.settings = settings
        health = health.filter { servers.contains($0.key) }
    }

    // MARK: Events

    /// Asks. The answer may be among the actions.
    package mutating func ask(
        _ name: DNSName, _ type: DNSRecordType, at now: Duration
    ) -> (id: QuestionID, actions: [Action]) {
        lastID += 1
        let id = lastID
        let key = QuestionKey(name: name, type: type)
        keys[id] = key
        if let known = byKey[key], askings[known] != nil {
            askings[known]?.askers.append(id)
            return (id, [])
        }
        byKey[key] = id
        askings[id] = Asking(
            question: DNSQuestion(name, type), target: name, askers: [id], startedAt: now, plan: makePlan(at: now))
        guard backlog.isEmpty, exchanges.count < Self.burst else {
            backlog.append(id)
            if backlogTimer == nil { backlogTimer = timers.add(at: now + Self.pause, 0) }
            return (id, [])
        }
        return (id, askNext(id, at: now))
    }

    /// The asker wants no answer any more.
    package mutating func cancel(_ question: QuestionID, at now: Duration) -> [Action] {
        guard let key = keys.removeValue(forKey: question), let id = byKey[key] else { return [] }
        askings[id]?.askers.removeAll { $0 == question }
        guard askings[id]?.askers.isEmpty == true else { return [] }
        return drop(id) + resumeBacklog(at: now)
    }

    /// The message could not be sent, or the server's host refused it.
    package mutating func failed(_ exchange: ExchangeID, because failure: DNSFailure, at now: Duration) -> [Action] {
        guard let lost = exchanges[exchange] else { return [] }
        // Where only the server's TCP is missing, it did answer over UDP.
        let isStreamOnly = lost.carrier == .tcp && !settings.usesTCP
        if failure != .unreachable, !isStreamOnly { health[lost.server, default: ServerHealth()].wasSilent(at: now) }
        return giveUp(exchange, because: failure, at: now)
    }

    /// Time has come. Early, late and twice do no harm.
    package mutating func advance(to now: Duration) -> [Action] {
        var actions: [Action] = []
        while let id = timers.popDue(at: now) {
            guard id != 0 else {
                backlogTimer = nil
                actions += resumeBacklog(upTo: min(exchanges.count + Self.burst, Self.exchangeLimit), at: now)
                continue
            }
            askings[id]?.timer = nil
            actions += askNext(id, at: now)
        }
        return actions
    }

    // MARK: Asking

    mutating func freshID() -> UInt16 {
        while true {
            let id = UInt16(truncatingIfNeeded: random.next())
            if usedIDs.insert(id).inserted { return id }
        }
    }

    mutating func setTimer(_ id: UInt64, at time: Duration) {
        if let timer = askings[id]?.timer { timers.cancel(timer) }
        askings[id]?.timer = timers.add(at: time, id)
    }

    // MARK: Ending

    /// One exchange gave nothing: the next server is asked at once.
    mutating func giveUp(_ exchange: ExchangeID, because failure: DNSFailure, at now: Duration) -> [Action] {
        guard let lost = forget(exchange) else { return [] }
        askings[lost.asking]?.failure = failure
        askings[lost.asking]?.failedServer = lost.server
        if lost.carrier == .udp || settings.usesTCP { askings[lost.asking]?.dropSpares(of: lost.server) }
        guard let asking = askings[lost.asking] else { return [.forget(exchange)] }
        // Somebody else may still answer: wait for that one as long as its time runs.
        let mayGoOn = asking.next < asking.plan.count
        guard mayGoOn || asking.exchanges.isEmpty else { return [.forget(exchange)] }
        return [.forget(exchange)] + askNext(lost.asking, at: now)
    }

    @discardableResult
    mutating func forget(_ exchange: ExchangeID) -> Exchange? {
        guard let known = exchanges.removeValue(forKey: exchange) else { return nil }
        usedIDs.remove(known.id)
        askings[known.asking]?.exchanges.removeAll { $0 == exchange }
        return known
    }

    mutating func finish(_ id: UInt64, _ answer: DNSAnswer, at now: Duration) -> [Action] {
        guard let asking = askings[id] else { return [] }
        var answer = answer
        answer.aliases = asking.aliases + answer.aliases
        if let limit = asking.aliasLifetime { answer.timeToLive = min(answer.timeToLive, limit) }
        answer.duration = now - asking.startedAt
        noteSilence(asking, at: now)
        let actions = drop(id) + asking.askers.map { .answer($0, answer) }
        for asker in asking.askers { keys[asker] = nil }
        return actions + resumeBacklog(at: now)
    }

    /// Servers that were waited for in vain are asked last for a while.
    private mutating func noteSilence(_ asking: Asking, at now: Duration) {
        for exchange in asking.exchanges {
            guard let silent = exchanges[exchange] else { continue }
            let patience = health[silent.server, default: ServerHealth()].patience(atMost: settings.timeout, round: 0)
            if now - silent.sentAt >= patience { health[silent.server, default: ServerHealth()].wasSilent(at: now) }
        }
    }

    private mutating func drop(_ id: UInt64) -> [Action] {
        guard let asking = askings.removeValue(forKey: id) else { return [] }
        if let timer = asking.timer { timers.cancel(timer) }
        let key = QuestionKey(name: asking.question.name, type: asking.question.type)
        if byKey[key] == id { byKey[key] = nil }
        for exchange in asking.exchanges { forget(exchange) }
        return asking.exchanges.map { .forget($0) }
    }

    private mutating func resumeBacklog(upTo limit: Int = burst, at now: Duration) -> [Action] {
        // A question that ends at once lets others go on: they do, in the loop below.
        guard !isResuming, !backlog.isEmpty else { return [] }
        isResuming = true
        defer { isResuming = false }
        var actions: [Action] = []
        while exchanges.count < limit, let id = backlog.popFirst() {
            guard askings[id] != nil else { continue }
            // Meanwhile servers may have shown that they are silent.
            let plan = makePlan(at: now)
            askings[id]?.plan = plan
            actions += askNext(id, at: now)
        }
        if let timer = backlogTimer { timers.cancel(timer) }
        backlogTimer = backlog.isEmpty ? nil : timers.add(at: now + Self.pause, 0)
        return actions
    }
}
