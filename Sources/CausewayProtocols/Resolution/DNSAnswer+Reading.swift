internal import CausewayWire

/// What a response says to a question.
enum DNSInterpretation {
    case answer(DNSAnswer)
    /// Aliases lead to a name of which the response says nothing: ask for that one.
    case follow(DNSName, aliases: [DNSRecord], timeToLive: Duration)
    /// The server cannot help; another one may.
    case useless
    case aliasLoop
}

extension DNSInterpretation {
    /// The most aliases in a row.
    static let aliasLimit = 16
    /// Nothing is remembered for longer; it bounds what a wrong answer can do (RFC 8767 §4).
    static let longestTimeToLive: UInt32 = 86_400
    /// The same for names and records that are not there (RFC 2308 §5).
    static let longestNegativeTimeToLive: UInt32 = 10_800

    /// Reads a response without an error, or with NXDOMAIN.
    init(_ message: DNSMessage, to question: DNSQuestion) {
        var name = question.name
        var aliases: [DNSRecord] = []
        var timeToLive = Self.longestTimeToLive
        while true {
            let records = message.answers.filter { $0.name == name && $0.recordClass == question.recordClass }
            let found = records.filter { $0.type == question.type || question.type == .any }
            if !found.isEmpty {
                for record in found { timeToLive = min(timeToLive, record.timeToLive) }
                self = .answer(Self.answer(.records(found), name, aliases, timeToLive, message))
                return
            }
            guard let alias = records.first(where: { $0.type == .cname }), case .name(let target) = alias.data else {
                break
            }
            aliases.append(alias)
            timeToLive = min(timeToLive, alias.timeToLive)
            guard aliases.count <= Self.aliasLimit, target != question.name,
                !aliases.contains(where: { $0.name == target })
            else {
                self = .aliasLoop
                return
            }
            name = target
        }
        self = Self.negative(message, question, name, aliases, timeToLive)
    }

    private static func negative(
        _ message: DNSMessage, _ question: DNSQuestion, _ name: DNSName, _ aliases: [DNSRecord], _ timeToLive: UInt32
    ) -> DNSInterpretation {
        let authority = message.authorities.first { $0.type == .soa }
        var remembered: UInt32 = 0
        // Without a SOA record it may not be remembered (RFC 2308 §5).
        if let authority, case .authority(let content) = authority.data {
            remembered = min(authority.timeToLive, content.minimum, longestNegativeTimeToLive, timeToLive)
        }
        if message.responseCode == .nameError {
            return .answer(answer(.noSuchName, name, aliases, remembered, message))
        }
        if authority == nil {
            if !aliases.isEmpty { return .follow(name, aliases: aliases, timeToLive: .seconds(timeToLive)) }
            // A referral from a server that does not look further itself (RFC 2308 §2.2).
            if !message.flags.contains(.recursionAvailable), !message.flags.contains(.isAuthoritative),
                message.authorities.contains(where: { $0.type == .ns })
            {
                return .useless
            }
        }
        return .answer(answer(.noSuchRecord, name, aliases, remembered, message))
    }

    private static func answer(
        _ finding: DNSAnswer.Finding, _ name: DNSName, _ aliases: [DNSRecord], _ timeToLive: UInt32,
        _ message: DNSMessage
    ) -> DNSAnswer {
        var answer = DNSAnswer(finding, for: name)
        answer.aliases = aliases
        answer.timeToLive = .seconds(timeToLive)
        answer.isAuthentic = message.flags.contains(.isAuthentic)
        return answer
    }
}
