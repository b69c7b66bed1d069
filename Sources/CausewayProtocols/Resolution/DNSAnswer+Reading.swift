internal import CausewayWire

/// The result of interpreting a response to a question.
enum DNSInterpretation {
    case answer(DNSAnswer)
    /// The CNAME records lead to another name, and this response contains no records for that name. Query that name
    /// next.
    case follow(DNSName, aliases: [DNSRecord], timeToLive: Duration)
    /// The server cannot answer the question; another server may be able to.
    case useless
    case aliasLoop
}

extension DNSInterpretation {
    /// The maximum number of CNAME records in a chain.
    static let aliasLimit = 16
    /// A record's maximum time to live in seconds. It limits the effect of a wrong answer (RFC 8767 §4).
    static let longestTimeToLive: UInt32 = 86_400
    /// A negative answer's maximum time to live in seconds (RFC 2308 §5).
    static let longestNegativeTimeToLive: UInt32 = 10_800

    /// Creates the answer to a question from a DNS response with the code NOERROR or NXDOMAIN.
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
        // A negative answer without a SOA record must not be cached (RFC 2308 §5).
        if let authority, case .authority(let content) = authority.data {
            remembered = min(authority.timeToLive, content.minimum, longestNegativeTimeToLive, timeToLive)
        }
        if message.responseCode == .nameError {
            return .answer(answer(.noSuchName, name, aliases, remembered, message))
        }
        if authority == nil {
            if !aliases.isEmpty { return .follow(name, aliases: aliases, timeToLive: .seconds(timeToLive)) }
            // The response is a referral from a server that does not offer recursion (RFC 2308 §2.2).
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
