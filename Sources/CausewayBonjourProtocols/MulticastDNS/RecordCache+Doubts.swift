internal import CausewayTypes
internal import CausewayWire

/// Detects conflicts between two hosts that answer by unicast for the same unique name. The two hosts do not receive
/// each other's responses. Only the querier sees both.
extension RecordCache {
    /// Minimum time between two checks for the same name and type.
    private static let doubtSpacing: Duration = .seconds(10)

    /// Returns the questions to ask if a unicast response contradicts the cache.
    ///
    /// The questions are about unique records in the response that contradict another host's cached records.
    mutating func contradicted(
        by message: DNSMessage, from source: InternetAddress, at now: Duration
    ) -> [DNSQuestion] {
        let records = (message.answers + message.additionals).filter {
            $0.flushesCache && $0.timeToLive > 0 && $0.type != .nsec
        }
        var doubted: [DNSQuestion] = []
        var examined: Set<DNSQuestion> = []
        for record in records {
            let question = DNSQuestion(record.name, record.type)
            guard examined.insert(question).inserted else { continue }
            let said = Set(records.filter { question.matches($0) }.map(\.data))
            let rivals = self[record.name, record.type].filter { entry in
                entry.record.flushesCache && entry.expires > now && entry.source != source
                    && !said.contains(entry.record.data)
            }
            guard !rivals.isEmpty, !rivals.contains(where: { Self.isDoubted($0, at: now) }) else { continue }
            update(question) { $0.lastDoubt = now }
            doubted.append(question)
        }
        return doubted
    }

    private static func isDoubted(_ entry: Entry, at now: Duration) -> Bool {
        entry.lastDoubt.map { now - $0 < Self.doubtSpacing } ?? false
    }
}
