internal import CausewayTypes
internal import DequeModule
internal import Synchronization

/// The progress of sending one message. If other messages must wait for this message, they refer to the same object.
package final class MessageTicket: Sendable {
    package enum Progress: UInt8, Sendable { case unfinished, sent, failed }

    private let state = Atomic<UInt8>(0)

    package init() {}

    package var progress: Progress {
        get { Progress(rawValue: state.load(ordering: .acquiring)) ?? .unfinished }
        set { state.store(newValue.rawValue, ordering: .releasing) }
    }
}

/// Decides the order in which messages are sent. Messages with a higher priority come first. Each message waits for its
/// antecedent, which is a message to be sent before it. Expired messages are not sent.
///
/// The parts of one message are sent in order, without parts of other messages between them. After ``next(at:)`` has
/// begun a message, this message is not reordered. The queue reads no clock: times are durations since any fixed
/// instant.
package struct SendQueue<Payload: Sendable>: Sendable {
    package struct Entry: Sendable {
        package var payload: Payload
        /// Identifies the message to which this part belongs. `nil` for a complete message without options. A priority
        /// and a deadline are options.
        package var ticket: MessageTicket?
        package var endsMessage: Bool
        package var priority: Double
        package var deadline: Duration?
        package var antecedent: MessageTicket?

        package init(
            _ payload: Payload, ticket: MessageTicket? = nil, endsMessage: Bool = true, priority: Double = 0.5,
            deadline: Duration? = nil, antecedent: MessageTicket? = nil
        ) {
            self.payload = payload
            self.ticket = ticket
            self.endsMessage = endsMessage
            self.priority = priority
            self.deadline = deadline
            self.antecedent = antecedent
        }

        var isPlain: Bool { ticket == nil && endsMessage && priority == 0.5 && deadline == nil && antecedent == nil }
    }

    package enum Step: Sendable {
        case send(Entry)
        /// The message expired before its first byte was sent.
        case expired(Entry)
        /// The message that must precede this message (its antecedent) has failed.
        case antecedentFailed(Entry)
    }

    private var entries: Deque<Entry> = []
    private var entriesWithOptions = 0
    /// The message that is partly sent: its final part is still missing. No other message may be sent before the final
    /// part.
    private var open: MessageTicket?
    /// Messages that failed before their first part was sent. Further parts of these messages may be queued, or the
    /// program may still send them.
    ///
    /// All further parts fail too. If they were sent, the peer would take them for a complete message.
    private var lost: [(ticket: MessageTicket, hasExpired: Bool)] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }
    /// Whether a new message without options can be sent at once. Otherwise the message must be queued.
    package var letsPlainPass: Bool { entries.isEmpty && open == nil && lost.isEmpty }

    /// Returns the total size of the content in all queued messages.
    package func total(of size: (Payload) -> Int) -> Int { entries.reduce(0) { $0 + size($1.payload) } }

    package mutating func append(_ entry: Entry) {
        if !entry.isPlain { entriesWithOptions += 1 }
        entries.append(entry)
    }

    /// Returns the next message part to send or to report as failed; `nil` if there is none now.
    package mutating func next(at now: @autoclosure () -> Duration) -> Step? {
        if entriesWithOptions == 0, open == nil { return entries.popFirst().map { .send($0) } }
        guard let step = chooseByWishes(at: now()) else { return nil }
        if case .send(let entry) = step { begin(entry) }
        return step
    }

    /// Returns the next message part that can never be sent.
    ///
    /// There are three possible reasons: the part's message has expired, the message's antecedent failed, or an earlier
    /// part of the message failed. Unlike ``next(at:)``, this method never returns a part to send. So the caller may
    /// use it even while nothing can be sent.
    package mutating func nextLost(at now: Duration) -> Step? {
        guard entriesWithOptions > 0 else { return nil }
        return chooseLost() ?? chooseHopeless(at: now)
    }

    /// The earliest time at which a queued message expires; `nil` if no queued message has a deadline.
    package var deadline: Duration? {
        guard entriesWithOptions > 0 else { return nil }
        var seen: Set<ObjectIdentifier> = []
        var earliest: Duration?
        for entry in entries {
            // A message has the deadline of its oldest part. A message whose sending has begun has no deadline.
            if let ticket = entry.ticket, ticket === open || !seen.insert(ObjectIdentifier(ticket)).inserted {
                continue
            }
            if let deadline = entry.deadline { earliest = min(deadline, earliest ?? deadline) }
        }
        return earliest
    }

    /// Removes and returns the oldest entry whose payload satisfies the predicate. Returns `nil` if there is no such
    /// entry, or if a part of the entry's message has already been sent.
    package mutating func withdraw(where isWanted: (Payload) -> Bool) -> Entry? {
        guard let index = entries.firstIndex(where: { isWanted($0.payload) }) else { return nil }
        if let open, entries[index].ticket === open { return nil }
        return remove(at: index)
    }

    /// Removes and returns all entries.
    package mutating func removeAll() -> [Entry] {
        defer {
            entries = []
            entriesWithOptions = 0
            open = nil
            lost = []
        }
        return Array(entries)
    }

    private mutating func begin(_ entry: Entry) {
        if entry.endsMessage {
            open = nil
        } else if let ticket = entry.ticket {
            open = ticket
        }
    }

    private mutating func chooseByWishes(at now: Duration) -> Step? {
        if let open {
            guard let index = entries.firstIndex(where: { $0.ticket === open }) else { return nil }
            return .send(remove(at: index))
        }
        if let step = chooseLost() ?? chooseHopeless(at: now) { return step }
        var best: Int?
        // To decide whether an entry may be sent, all entries before it must be examined. To save time, do this only
        // for entries with a higher priority than the best entry found so far.
        for index in entries.indices where best.map({ entries[index].priority > entries[$0].priority }) ?? true {
            if isEligible(at: index) { best = index }
        }
        return best.map { .send(remove(at: $0)) }
    }

    /// Removes a message that can no longer be sent. The first choice is the oldest message that has expired. If none
    /// has expired, the choice is the oldest message that depends on a failed message.
    ///
    /// A message whose first part was sent is never removed.
    private mutating func chooseHopeless(at now: Duration) -> Step? {
        if let index = entries.indices.first(where: { isLate(entries[$0], at: now) && isUnbegun(at: $0) }) {
            return lose(at: index, hasExpired: true)
        }
        if let index = entries.indices.first(where: { entries[$0].antecedent?.progress == .failed && isUnbegun(at: $0) }
        ) {
            return lose(at: index, hasExpired: false)
        }
        return nil
    }

    /// Removes and returns the next part of a message that has already failed in an earlier part. The returned part
    /// fails too.
    private mutating func chooseLost() -> Step? {
        guard !lost.isEmpty else { return nil }
        for (index, entry) in entries.enumerated() {
            guard let position = lost.firstIndex(where: { $0.ticket === entry.ticket }) else { continue }
            let hasExpired = lost[position].hasExpired
            lost.remove(at: position)
            return lose(at: index, hasExpired: hasExpired)
        }
        return nil
    }

    private mutating func lose(at index: Int, hasExpired: Bool) -> Step {
        let entry = remove(at: index)
        if let ticket = entry.ticket, !entry.endsMessage { lost.append((ticket, hasExpired)) }
        return hasExpired ? .expired(entry) : .antecedentFailed(entry)
    }

    private func isLate(_ entry: Entry, at now: Duration) -> Bool { entry.deadline.map { $0 <= now } ?? false }

    /// Whether the message part at `index` may be sent now. It must be the oldest queued part of its message. If the
    /// message has an antecedent, the antecedent must have been sent.
    private func isEligible(at index: Int) -> Bool {
        let entry = entries[index]
        if let antecedent = entry.antecedent, antecedent.progress != .sent { return false }
        return isOldestOfMessage(at: index)
    }

    private func isUnbegun(at index: Int) -> Bool {
        (open == nil || entries[index].ticket !== open) && isOldestOfMessage(at: index)
    }

    private func isOldestOfMessage(at index: Int) -> Bool {
        guard let ticket = entries[index].ticket else { return true }
        return !entries[..<index].contains { $0.ticket === ticket }
    }

    private mutating func remove(at index: Int) -> Entry {
        let entry = entries.remove(at: index)
        if !entry.isPlain { entriesWithOptions -= 1 }
        return entry
    }
}

extension SendQueue: StateMachine {
    package typealias Action = Step

    package var hasEnded: Bool { false }

    /// Removes and returns the messages that can never be sent.
    package mutating func takeActions(dueAt now: Duration) -> [Step] {
        var steps: [Step] = []
        while let step = nextLost(at: now) { steps.append(step) }
        return steps
    }
}
