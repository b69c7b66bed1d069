internal import CausewayWire

/// A history of other hosts' queries. From this history, the responder concludes which queriers may have missed an
/// answer.
struct QuerierHistory: Sendable {
    /// How long a link counts as lossy after a querier's link-layer address could not be resolved.
    private static let lossMemory: Duration = .seconds(60)

    private var repeated = RepeatedQuestions()
    private var answered = AnsweredQueriers()
    /// The time at which the newest registration passed probing.
    private var lastEstablished: Duration = .zero
    /// Until when the link counts as lossy.
    private var lossEnd: Duration = .zero

    /// Whether the link counts as lossy. This is so for a minute after a querier's link-layer address could not be
    /// resolved.
    func isLossy(at now: Duration) -> Bool { now < lossEnd }

    /// Stores a question that this host is about to answer. Returns how often to repeat the answer.
    ///
    /// The result is greater than 0 if the querier seems to have missed earlier answers.
    mutating func noteQuestion(_ question: DNSQuestion, from arrival: MulticastArrival, at now: Duration) -> Int {
        repeated.note(question, from: arrival.peer.address, at: now)
    }

    /// Stores the questions that an answer to this querier covers. Returns whether one of them is new from this
    /// querier.
    ///
    /// A question is new if the querier has not asked it since the newest registration passed probing.
    mutating func noteAnswer(to questions: [DNSQuestion], from arrival: MulticastArrival, at now: Duration) -> Bool {
        guard arrival.isMulticast, arrival.isOnLink else { return false }
        return questions.reduce(false) { isNew, question in
            answered.note(question, from: arrival.peer.address, since: lastEstablished, at: now) || isNew
        }
    }

    /// Records that a registration has passed probing.
    mutating func registrationEstablished(at now: Duration) { lastEstablished = now }

    /// Notes that a querier's link-layer address could not be resolved.
    mutating func neighbourUnresolved(at now: Duration) { lossEnd = now + Self.lossMemory }

    /// Forgets the queriers, because the interface may now be attached to another link.
    mutating func restarted() {
        repeated = RepeatedQuestions()
        answered = AnsweredQueriers()
        lossEnd = .zero
    }

    /// Forgets the series of repeated questions, because queriers continue a series while this host sleeps. Otherwise
    /// this host would later conclude that its answers had been lost.
    mutating func fellAsleep() { repeated = RepeatedQuestions() }
}
