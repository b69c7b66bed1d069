package import CausewayWire

/// Multicast DNS on one link, both ways (RFC 6762).
///
/// It reads no clock and owns no socket: its owner reports messages and the time, performs what ``takeActions()`` holds after each
/// report, and calls ``advance(to:)`` at ``nextDeadline``. Calls that come early, late or twice do no harm.
package struct MulticastLink: Sendable {
    private var querier: MulticastQuerier
    private var responder: MulticastResponder
    private var actions: [MulticastAction] = []
    private var lastTime: Duration = .zero
    /// What was sent and has not come back yet, and how often it will: the group reaches its senders as well.
    private var echoes: [(bytes: [UInt8], left: Int)] = []
    private var echoLimit: Int { hearsItself ? 64 : 1_024 }
    /// Whether what is registered here answers this host's own questions as well. To be decided before anything is asked.
    package var hearsItself = true
    /// Address families in which each message goes out, and comes back.
    package var familyCount = 1

    package init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        querier = MulticastQuerier(random: random)
        responder = MulticastResponder(random: random)
    }

    /// Whether answers may come by unicast. Where others share the port, they come to any of its sockets (RFC 6762 §15.1).
    package var acceptsUnicast: Bool {
        get { querier.acceptsUnicast }
        set {
            querier.acceptsUnicast = newValue
            responder.acceptsUnicast = newValue
        }
    }

    /// Whether the port of multicast DNS could not be had: questions leave from another one, and nothing can be answered. Each
    /// question waits two seconds for what comes by unicast (RFC 6762 §5.1).
    package var isOneShot: Bool {
        get { querier.isOneShot }
        set { querier.isOneShot = newValue }
    }

    /// Bytes of the largest message that is sent, but for records that are larger themselves: what the link takes in one packet
    /// (RFC 6762 §17).
    package var messageByteLimit: Int {
        get { querier.messageByteLimit }
        set {
            querier.messageByteLimit = newValue
            responder.messageByteLimit = newValue
        }
    }

    /// When something last happened that many hosts of the link may have noticed: a link came up, power came back. After that all of them
    /// may begin something at one moment, and the law's random waits are even. Long after it they are rather short than long.
    package var upheaval: Duration {
        get { querier.calm.upheaval }
        set {
            querier.calm.upheaval = newValue
            responder.calm.upheaval = newValue
        }
    }

    // MARK: Asking

    /// Keeps asking until ``stop(_:)``; each change of what is known is reported.
    package mutating func ask(_ question: DNSQuestion, _ id: QuestionID, at now: Duration) {
        lastTime = now
        actions += querier.ask(question, id, at: now)
        answerOneself(question)
    }

    package mutating func stop(_ id: QuestionID) { querier.stop(id) }

    /// A record turned out not to hold (RFC 6762 §10.4).
    package mutating func reconfirm(_ record: DNSRecord, at now: Duration) { querier.reconfirm(record, at: now) }

    /// About what everything takes that others have said, in bytes; at most ``MulticastDNS/cachedByteLimit``.
    package var cachedByteCount: Int { querier.cache.byteCount }

    // MARK: Answering

    /// Answers for `records` once their unique names turned out to be free. Those with ``DNSRecord/flushesCache`` are unique.
    ///
    /// - Parameter isKnownUnique: Whether nobody else can have the names: then they are not probed for (RFC 6762 §8.1).
    package mutating func register(
        _ records: RecordSet, _ id: RegistrationID, isKnownUnique: Bool = false, at now: Duration
    ) {
        responder.register(records, id, isKnownUnique: isKnownUnique, at: now)
    }

    package mutating func register(
        _ records: [DNSRecord], _ id: RegistrationID, isKnownUnique: Bool = false, at now: Duration
    ) {
        register(RecordSet(records), id, isKnownUnique: isKnownUnique, at: now)
    }

    package mutating func update(_ id: RegistrationID, _ records: RecordSet, at now: Duration) {
        lastTime = now
        responder.update(id, records, at: now)
    }

    package mutating func update(_ id: RegistrationID, _ records: [DNSRecord], at now: Duration) {
        update(id, RecordSet(records), at: now)
    }

    /// Says goodbye. What goes before actions are taken next shares messages.
    package mutating func unregister(_ id: RegistrationID, at now: Duration) {
        lastTime = now
        responder.unregister(id)
    }

    /// Whether goodbyes are still to be said again, for those who missed the first.
    package var isDeparting: Bool { responder.isDeparting }

    // MARK: The link

    /// The link or the host was away: what is known is asked for, what is registered probed and announced anew.
    package mutating func restart(at now: Duration) {
        querier.restart(at: now)
        responder.restart(at: now)
    }

    /// The host is about to sleep: goodbyes are said, and nothing is answered until ``restart(at:)`` (RFC 6762 §10.1).
    ///
    /// - Parameter isRepresented: Whether somebody else answers meanwhile. Then there are no goodbyes.
    package mutating func sleep(isRepresented: Bool = false) {
        actions += responder.sleep(isRepresented: isRepresented)
    }

    /// What is answered with, each record once.
    package var answeredRecords: [DNSRecord] { responder.records }

    /// Who this host is, for those who may have answered for it while it slept: its probes and announcements say so.
    package var owner: DNSOwner? {
        get { responder.owner }
        set { responder.owner = newValue }
    }

    /// The link is about to be left: goodbyes are said, and what came from it is forgotten.
    package mutating func leave() {
        actions += responder.farewell()
        actions += querier.clear()
    }

    /// Looks at a message before it is read: most of what others say on a busy link, or on one that is flooded, concerns nobody here.
    package mutating func interest(
        in bytes: Span<UInt8>, _ arrival: MulticastArrival, isSelf: Bool = false, at now: Duration
    ) -> MulticastInterest {
        if isSelf, forgetEcho(bytes) { return .none }
        // What comes by unicast answers a question that was put not long ago, or a probe.
        let mayAnswer = arrival.isMulticast || querier.expectsUnicast(at: now)
        let summary = DNSMessageSummary(bytes) { name in
            (mayAnswer && querier.concerns(name)) || responder.concerns(name)
        }
        guard let summary else { return .none }
        guard summary.flags.contains(.isResponse) else {
            // The rest of somebody's known answers has no question.
            let isAwaited =
                responder.pending.expectsMore(of: arrival.peer) || querier.long.awaitsMore(of: arrival.peer)
            return summary.isOfInterest || (!summary.hasQuestions && isAwaited) ? .question : .none
        }
        return arrival.isFull && (arrival.isMulticast || arrival.isOnLink) && summary.isOfInterest ? .answer : .none
    }

    /// Reads a message. Whatever stands in it, it does no harm.
    ///
    /// - Parameter isSelf: Whether the sender is this host, by its address.
    package mutating func received(
        _ bytes: Span<UInt8>, _ arrival: MulticastArrival, isSelf: Bool = false, at now: Duration
    ) {
        if isSelf, forgetEcho(bytes) { return }
        guard let message = try? DNSMessage(parsing: bytes), message.operation == 0,
            message.responseCode == .noError
        else { return }
        lastTime = now
        guard message.flags.contains(.isResponse) else {
            // What this host says over its other family, or another process of it, is no sign of what others know.
            if !isSelf { querier.overheard(message, arrival, at: now) }
            actions += responder.asked(message, arrival, at: now)
            return
        }
        // Only full participants answer, and only from the link (RFC 6762 §6, §11).
        guard arrival.isFull, arrival.isMulticast || arrival.isOnLink else { return }
        actions += querier.received(message, arrival, at: now)
        responder.received(message, arrival, isSelf: isSelf, at: now)
        actions += responder.advance(to: now)
    }

    // MARK: Time

    package var nextDeadline: Duration? {
        [querier.nextDeadline, responder.nextDeadline].compactMap { $0 }.min()
    }

    package mutating func advance(to now: Duration) {
        lastTime = now
        actions += querier.advance(to: now, knowing: hearsItself ? nil : responder.own)
        actions += responder.advance(to: now)
    }

    /// What must be done, in this order.
    package mutating func takeActions() -> [MulticastAction] {
        var result: [MulticastAction] = []
        actions += responder.takeGoodbyes(at: lastTime)
        while !actions.isEmpty {
            let batch = actions
            actions = []
            for case .send(let bytes) in batch { hearOneself(bytes) }
            result += batch
        }
        return result
    }

    // MARK: This host's own voice

    /// What this host says, it hears at once: its own services are found, whether the wire carries them back or not.
    private mutating func hearOneself(_ bytes: [UInt8]) {
        if echoes.count == echoLimit { echoes.removeFirst() }
        echoes.append((bytes, familyCount))
        guard hearsItself, let message = try? DNSMessage(parsing: bytes.span) else { return }
        if message.flags.contains(.isResponse) {
            actions += querier.heard(message, from: nil, at: lastTime)
        } else {
            for question in message.questions { answerOneself(question) }
        }
    }

    private mutating func answerOneself(_ question: DNSQuestion) {
        guard hearsItself else { return }
        var message = DNSMessage()
        message.answers = responder.own[question.name].filter { question.matches($0) }
        guard !message.answers.isEmpty else { return }
        actions += querier.heard(message, from: nil, at: lastTime)
    }

    private mutating func forgetEcho(_ bytes: Span<UInt8>) -> Bool {
        guard let index = echoes.firstIndex(where: { Self.areEqual($0.bytes, bytes) }) else { return false }
        echoes[index].left -= 1
        if echoes[index].left == 0 { echoes.remove(at: index) }
        return true
    }

    private static func areEqual(_ left: [UInt8], _ right: Span<UInt8>) -> Bool {
        left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
    }
}
