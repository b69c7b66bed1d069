internal import CausewayTypes
package import CausewayWire

/// Multicast DNS on one link: querier and responder (RFC 6762).
///
/// This type does no I/O and reads no clock. The code that runs it reports messages and the time, performs the actions
/// from ``takeActions()`` after each report, and calls ``advance(to:)`` at ``deadline``. Early, late and repeated calls
/// are harmless.
package struct MulticastLink: Sendable {
    private var querier: MulticastQuerier
    private var responder: MulticastResponder
    private var actions: [MulticastAction] = []
    /// The latest time that a caller has passed to this type. It never decreases.
    private var lastTime: Duration = .zero
    /// The messages that this host has sent, and that it still expects to receive itself. Multicast loopback delivers
    /// each message to its sender too, once per address family. `left` is the number of copies that are still expected.
    ///
    /// The list has at most ``echoLimit`` messages. At this limit, the oldest message is dropped.
    private var echoes: [(bytes: [UInt8], left: Int)] = []
    private var echoLimit: Int { hearsItself ? 64 : 1_024 }
    /// Whether another process on this host has sent multicast messages from port 5353. If so, each unicast message
    /// reaches only one of the processes (see ``ForwardedMessage``).
    package private(set) var hasSiblings = false
    /// Whether this host's registrations also answer its own questions. Set this property before the first question.
    package var hearsItself = true
    /// The number of address families over which each message is sent. Multicast loopback delivers one copy of the
    /// message for each family.
    package var familyCount = 1

    package init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        querier = MulticastQuerier(random: random)
        responder = MulticastResponder(random: random)
    }

    /// Whether unicast responses can arrive at this process's socket. If other programs share the port, a unicast
    /// packet reaches only one socket (RFC 6762 §15.1).
    package var acceptsUnicast: Bool {
        get { querier.acceptsUnicast }
        set {
            querier.socketsChanged(acceptsUnicast: newValue)
            responder.socketsChanged(acceptsUnicast: newValue)
        }
    }

    /// Whether a socket had to use another port than 5353. Each query then accepts unicast responses for two seconds
    /// (RFC 6762 §5.1). If no socket uses port 5353, register nothing on this link, because other hosts' queries cannot
    /// arrive.
    package var isOneShot: Bool {
        get { querier.isOneShot }
        set { querier.socketsChanged(isOneShot: newValue) }
    }

    /// Maximum size of a message to send, in bytes, so that the message fits into one packet on the link. Only a
    /// message that consists of one large record may be larger (RFC 6762 §17).
    package var messageByteLimit: Int {
        get { querier.messageByteLimit }
        set {
            querier.linkChanged(messageByteLimit: newValue)
            responder.linkChanged(messageByteLimit: newValue)
        }
    }

    /// The time of the latest event that can make many hosts send at once, for example when a network switch starts.
    ///
    /// For ten seconds after this event, random delays are uniformly distributed, as RFC 6762 requires. After that,
    /// short delays are more likely than long delays.
    package var upheaval: Duration {
        get { querier.upheaval }
        set {
            querier.manyHostsStarted(at: newValue)
            responder.manyHostsStarted(at: newValue)
        }
    }

    // MARK: Questions

    /// Starts a continuous query. Changes in its answers are reported until ``stop(_:)``.
    package mutating func ask(_ question: DNSQuestion, _ id: QuestionID, at now: Duration) {
        reach(now)
        actions += querier.ask(question, id, at: now)
        answerOneself(question)
    }

    package mutating func stop(_ id: QuestionID) { querier.stop(id) }

    /// Checks with a new query whether a record is still valid. Call this method if the program could not use the record (RFC 6762 §10.4).
    package mutating func reconfirm(_ record: DNSRecord, at now: Duration) {
        reach(now)
        querier.reconfirm(record, at: now)
    }

    /// The cache's approximate memory use in bytes; at most ``MulticastDNS/cachedByteLimit``.
    package var cachedByteCount: Int { querier.cachedByteCount }

    // MARK: Registrations

    /// Registers records and answers queries with them. Unique names are probed first; records with ``DNSRecord/flushesCache`` are unique.
    ///
    /// - Parameter isKnownUnique: Whether no other host can have the names. They are then not probed (RFC 6762 §8.1).
    package mutating func register(
        _ records: RecordSet, _ id: RegistrationID, isKnownUnique: Bool = false, at now: Duration
    ) {
        reach(now)
        responder.register(records, id, isKnownUnique: isKnownUnique, at: now)
    }

    package mutating func register(
        _ records: [DNSRecord], _ id: RegistrationID, isKnownUnique: Bool = false, at now: Duration
    ) {
        register(RecordSet(records), id, isKnownUnique: isKnownUnique, at: now)
    }

    package mutating func update(_ id: RegistrationID, _ records: RecordSet, at now: Duration) {
        reach(now)
        responder.update(id, records, at: now)
    }

    package mutating func update(_ id: RegistrationID, _ records: [DNSRecord], at now: Duration) {
        update(id, RecordSet(records), at: now)
    }

    /// Ends a registration: sends goodbye packets, and stops answering queries with its records. If several
    /// registrations end before the next ``takeActions()``, their goodbyes share packets.
    package mutating func unregister(_ id: RegistrationID, at now: Duration) {
        reach(now)
        responder.unregister(id)
    }

    /// Whether goodbye messages must be sent again, for hosts that missed the first goodbye.
    package var isDeparting: Bool { responder.isDeparting }

    // MARK: The link

    /// Queries, probes and announces everything again, because the link or the host was down.
    package mutating func restart(at now: Duration) {
        reach(now)
        querier.restart(at: now)
        responder.restart(at: now)
    }

    /// Sends goodbyes and answers nothing until ``restart(at:)``, because the host is about to sleep (RFC 6762 §10.1).
    ///
    /// - Parameter isRepresented: Whether a sleep proxy answers in the meantime. In this case, goodbyes are sent only
    ///   for records that this host has already removed.
    package mutating func sleep(isRepresented: Bool = false, at now: Duration) {
        reach(now)
        actions += responder.sleep(isRepresented: isRepresented)
    }

    /// All records with which this host answers queries, each once.
    package var answeredRecords: [DNSRecord] { responder.records }

    /// The owner option for probes and announcements. It tells a sleep proxy that this host is awake, so the proxy stops answering.
    package var owner: DNSOwner? {
        get { responder.owner }
        set { responder.ownerChanged(to: newValue) }
    }

    /// Sends goodbyes and clears the cache, because the host leaves the link.
    package mutating func leave(at now: Duration) {
        reach(now)
        actions += responder.farewell()
        actions += querier.clear()
    }

    /// Classifies a message before it is parsed, because on a busy or flooded link most messages do not concern this host.
    package mutating func interest(
        in bytes: Span<UInt8>, _ arrival: MulticastArrival, isSelf: Bool = false, at now: Duration
    ) -> MulticastInterest {
        if isSelf, forgetEcho(bytes) { return .none }
        if isSelf, arrival.isMulticast, arrival.isFull { hasSiblings = true }
        // Unicast responses to this host's questions are accepted only within two seconds (RFC 6762 §11).
        let mayAnswer = arrival.isMulticast || querier.expectsUnicast(at: now)
        let summary = DNSMessageSummary(bytes) { name in
            (mayAnswer && querier.concerns(name)) || responder.concerns(name)
        }
        guard let summary else { return .none }
        guard summary.flags.contains(.isResponse) else {
            // A querier may have more known answers than fit into one message. The further messages contain no
            // questions (RFC 6762 §7.2).
            let isAwaited = responder.expectsMore(of: arrival.peer) || querier.awaitsMore(of: arrival.peer)
            return summary.isOfInterest || (!summary.hasQuestions && isAwaited) ? .question : .none
        }
        return arrival.isFull && (arrival.isMulticast || arrival.isOnLink) && summary.isOfInterest ? .answer : .none
    }

    /// Processes a message. Malformed messages are ignored.
    ///
    /// - Parameter isSelf: Whether the sender address belongs to this host.
    package mutating func received(
        _ bytes: Span<UInt8>, _ arrival: MulticastArrival, isSelf: Bool = false, at now: Duration
    ) {
        if isSelf, forgetEcho(bytes) { return }
        guard var message = try? DNSMessage(parsing: bytes), message.operation == 0,
            message.responseCode == .noError
        else { return }
        reach(now)
        // Remove duplicate questions. A packet can repeat a question hundreds of times, and each copy would cost a walk
        // over all records of its name.
        var seen: Set<DNSQuestion> = []
        if message.questions.count > 1 { message.questions.removeAll { !seen.insert($0).inserted } }
        guard message.flags.contains(.isResponse) else {
            // With `isSelf`, the query comes from this host. It was sent over the other address family or by another
            // process. So it does not show which records other hosts know.
            if !isSelf { querier.overheard(message, arrival, at: now) }
            actions += responder.asked(message, arrival, at: now)
            return
        }
        // Accept a response only from port 5353, and only if it was sent to the multicast group or from an address on
        // the link (RFC 6762 §6, §11).
        guard arrival.isFull, arrival.isMulticast || arrival.isOnLink else { return }
        actions += querier.received(message, arrival, at: now)
        responder.received(message, arrival, isSelf: isSelf, at: now)
        actions += responder.advance(to: now)
    }

    /// Handles a unicast reply that did not arrive. It was sent 40 ms ago, and the peer's link-layer address is still
    /// unresolved, so the kernel could not send it. Sends the reply's records to the multicast group instead.
    package mutating func neighbourUnresolved(_ peer: MulticastPeer, at now: Duration) {
        reach(now)
        actions += responder.neighbourUnresolved(peer, at: now)
    }

    // MARK: Time

    private mutating func reach(_ now: Duration) { lastTime = max(lastTime, now) }

    package var deadline: Duration? {
        [querier.deadline, responder.deadline].compactMap { $0 }.min()
    }

    package mutating func advance(to now: Duration) {
        reach(now)
        actions += querier.advance(to: now, knowing: hearsItself ? nil : responder.own)
        actions += responder.advance(to: now)
    }

    /// Returns the actions to perform, in order, and clears the list.
    package mutating func takeActions() -> [MulticastAction] {
        var result: [MulticastAction] = []
        if responder.hasUnsentGoodbyes { actions += responder.advance(to: lastTime) }
        while !actions.isEmpty {
            let batch = actions
            actions = []
            for case .send(let bytes) in batch { hearOneself(bytes) }
            result += batch
        }
        return result
    }

    // MARK: Loopback of sent messages

    /// Processes a sent message as if this host had received it. So this host finds its own services even if the
    /// loopback of multicast packets fails.
    private mutating func hearOneself(_ bytes: [UInt8]) {
        // After ``hearsItself`` was set, ``echoLimit`` can be lower than the number of stored messages. So remove as
        // many old messages as needed.
        if echoes.count >= echoLimit { echoes.removeFirst(echoes.count - echoLimit + 1) }
        echoes.append((bytes, familyCount))
        guard hearsItself, let message = try? DNSMessage(parsing: bytes.span) else { return }
        if message.flags.contains(.isResponse) {
            actions += querier.heard(message, from: nil, at: lastTime)
        } else {
            for question in message.questions { answerOneself(question) }
        }
    }

    /// Answers this host's own question from its own registrations. Sends no packet.
    private mutating func answerOneself(_ question: DNSQuestion) {
        guard hearsItself else { return }
        var message = DNSMessage()
        message.answers = responder.own[question.name].filter { question.matches($0) }
        guard !message.answers.isEmpty else { return }
        actions += querier.heard(message, from: nil, at: lastTime)
    }

    /// Returns `true` if the message is a copy of a message that this host sent, and that multicast loopback returns.
    /// If so, the method also reduces the number of copies that are still expected.
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

extension MulticastLink: QueueingMachine {
    package typealias Action = MulticastAction

    package var hasEnded: Bool { false }
}
