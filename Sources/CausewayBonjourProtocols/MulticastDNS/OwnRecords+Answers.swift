internal import CausewayWire

/// The records that answer a query, and the additional records.
extension OwnRecords {
    /// Maximum number of answers in a response that also has additional records. A response with more answers has no
    /// additional records, because the querier needs them for only a few of its answers.
    static let explainedAnswerLimit = 64

    /// Returns this host's records, and its NSEC records, that the querier lists as known answers with at least half
    /// the correct TTL (RFC 6762 §7.1).
    func known(in answers: [DNSRecord]) -> Set<DNSRecord> {
        var known: Set<DNSRecord> = []
        for answer in answers {
            if let own = held(answer), answer.timeToLive >= own.timeToLive / 2 { known.insert(own) }
            for none in negatives(equalTo: answer) where answer.timeToLive >= none.timeToLive / 2 { known.insert(none) }
        }
        return known
    }

    /// Returns this host's NSEC records that equal the given record. The TTL is not compared.
    ///
    /// Two such records can exist. An NSEC record has the TTL that the missing record type would have.
    func negatives(equalTo record: DNSRecord) -> [DNSRecord] {
        guard record.type == .nsec, record.recordClass == .internet else { return [] }
        let all = self[record.name]
        return [MulticastDNS.hostTimeToLive, MulticastDNS.otherTimeToLive].compactMap { timeToLive in
            Self.negative(timeToLive, all).flatMap { $0.data == record.data ? $0 : nil }
        }
    }

    /// Returns answers that were chosen earlier, with NSEC records that list the types that the names have now. Leaves
    /// out an NSEC record if there is none for its name any more.
    func updatingNegatives(in answers: [DNSRecord]) -> [DNSRecord] {
        guard answers.contains(where: { $0.type == .nsec }) else { return answers }
        var present: Set<DNSRecord> = []
        return answers.compactMap { answer -> DNSRecord? in
            let isOutdated = answer.type == .nsec && held(answer) == nil
            let current = isOutdated ? Self.negative(answer.timeToLive, self[answer.name]) : answer
            guard let current, present.insert(current).inserted else { return nil }
            return current
        }
    }

    /// Returns whether this host would still send `record` in an answer. The host sent this record before. The record
    /// can be an NSEC record.
    func isAnswer(_ record: DNSRecord) -> Bool { held(record) != nil || !negatives(equalTo: record).isEmpty }

    /// Returns this host's answers to a question, except those that the querier already knows. Returns an NSEC record
    /// if the name has only other record types.
    func answers(to question: DNSQuestion, knowing known: Set<DNSRecord>) -> [DNSRecord] {
        guard question.recordClass == .internet || question.recordClass == .any else { return [] }
        let all = self[question.name]
        var isThere = false
        let found = all.filter { record in
            guard question.matches(record) else { return false }
            isThere = true
            return known.isEmpty || !known.contains(record)
        }
        guard !isThere, let none = Self.negative(MulticastDNS.timeToLive(of: question.type), all),
            !known.contains(none)
        else { return found }
        return [none]
    }

    /// Returns an NSEC record that lists the types of a name's records (RFC 6762 §6.1).
    ///
    /// An NSEC record can list only types below 256. Returns `nil` if a record has another type or is not unique.
    private static func negative(_ timeToLive: UInt32, _ own: [DNSRecord]) -> DNSRecord? {
        guard let name = own.first?.name, own.allSatisfy({ $0.flushesCache && $0.type.rawValue < 256 }) else {
            return nil
        }
        let types = Set(own.map(\.type)).sorted { $0.rawValue < $1.rawValue }
        return DNSRecord(name, .nsec, flushesCache: true, timeToLive: timeToLive, .next(name, types: types))
    }

    /// Returns additional records for a response. These are the records that the querier needs next (RFC 6763 §12). For
    /// a host with addresses in only one family, there is also an NSEC record (RFC 6762 §6.2).
    func additionals(for answers: [DNSRecord]) -> [DNSRecord] {
        guard answers.count <= Self.explainedAnswerLimit else { return [] }
        var result: [DNSRecord] = []
        var present = Set(answers)
        var names = answers.flatMap(\.data.targets)
        names += answers.filter { $0.type == .a || $0.type == .aaaa }.map(\.name)
        var seen: Set<DNSName> = []
        while let name = names.popLast() {
            guard seen.insert(name).inserted else { continue }
            let all = self[name]
            for record in all where present.insert(record).inserted {
                result.append(record)
                names += record.data.targets
            }
            let hasIPv4 = all.contains { $0.type == .a }
            let hasIPv6 = all.contains { $0.type == .aaaa }
            guard hasIPv4 != hasIPv6, let none = Self.negative(MulticastDNS.hostTimeToLive, all) else { continue }
            if present.insert(none).inserted { result.append(none) }
        }
        return result
    }
}

extension MulticastDNS {
    /// Returns the usual TTL in seconds for a record type (RFC 6762 §10).
    fileprivate static func timeToLive(of type: DNSRecordType) -> UInt32 {
        [.a, .aaaa, .srv].contains(type) ? hostTimeToLive : otherTimeToLive
    }
}
