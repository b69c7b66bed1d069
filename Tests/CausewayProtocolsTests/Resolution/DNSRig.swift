import CausewayTestKit
import CausewayProtocols
import CausewayTypes
import CausewayWire

@testable import CausewayProtocols

/// Creates DNS records and messages as servers send them.
enum DNSRig {
    static let first = DNSServer(.ipv4(IPv4Address(bits: 0xC000_0201)))
    static let second = DNSServer(.ipv4(IPv4Address(bits: 0xC000_0202)))

    static func a(_ name: DNSName, _ last: UInt32, timeToLive: UInt32 = 300) -> DNSRecord {
        DNSRecord(name, .a, timeToLive: timeToLive, .ipv4(IPv4Address(bits: 0xC633_6400 + last)))
    }

    static func aaaa(_ name: DNSName, _ last: UInt64, timeToLive: UInt32 = 300) -> DNSRecord {
        DNSRecord(name, .aaaa, timeToLive: timeToLive, .ipv6(IPv6Address(high: 0x2001_0DB8 << 32, low: last)))
    }

    static func alias(_ name: DNSName, _ target: DNSName, timeToLive: UInt32 = 300) -> DNSRecord {
        DNSRecord(name, .cname, timeToLive: timeToLive, .name(target))
    }

    static func authority(_ zone: DNSName, minimum: UInt32, timeToLive: UInt32 = 3_600) -> DNSRecord {
        DNSRecord(
            zone, .soa, timeToLive: timeToLive,
            .authority(
                DNSAuthority(
                    server: zone, mailbox: zone, serial: 1, refresh: 2, retry: 3, expire: 4, minimum: minimum)))
    }

    /// A forged answer with an unknown ID.
    static let forged: [UInt8] = {
        var message = DNSMessage()
        message.flags = [.isResponse, .recursionAvailable]
        message.questions = [DNSQuestion("www.example.com", .a)]
        message.answers = [a("www.example.com", 66)]
        return message.encoded()
    }()

    static func message(_ bytes: [UInt8]) throws -> DNSMessage { try DNSMessage(parsing: bytes.span) }

    /// Returns the response of a recursive server to a sent query.
    static func response(
        to query: [UInt8], _ code: DNSResponseCode = .noError, answers: [DNSRecord] = [], authorities: [DNSRecord] = [],
        change: (inout DNSMessage) -> Void = { _ in }
    ) -> [UInt8] {
        guard let asked = try? DNSMessage(parsing: query.span) else { return [] }
        var message = DNSMessage()
        message.id = asked.id
        message.flags = [.isResponse, .recursionDesired, .recursionAvailable]
        message.responseCode = code
        message.questions = asked.questions
        message.answers = answers
        message.authorities = authorities
        change(&message)
        return message.encoded()
    }
}

/// A DNS client under test. Records its messages and results.
final class DNSDesk {
    struct Sent: Equatable {
        var exchange: DNSClient.ExchangeID
        var bytes: [UInt8]
        var server: DNSServer
        var carrier: DNSCarrier
    }

    var client: DNSClient
    var sent: [Sent] = []
    var forgotten: Set<DNSClient.ExchangeID> = []
    var answers: [DNSClient.QuestionID: DNSAnswer] = [:]
    var now: Duration = .zero

    init(
        _ servers: [DNSServer] = [DNSRig.first], seed: UInt64 = 1,
        _ set: (inout ResolverConfiguration.Options) -> Void = { _ in }
    ) {
        var options = ResolverConfiguration.Options()
        set(&options)
        client = DNSClient(servers, options, random: SplitMix64(seed: seed))
    }

    func ask(_ name: DNSName, _ type: DNSRecordType = .a, in partition: UInt64 = 0) -> DNSClient.QuestionID {
        let (id, actions) = client.ask(name, type, in: partition, at: now)
        take(actions)
        return id
    }

    func receive(_ bytes: [UInt8], for exchange: DNSClient.ExchangeID) {
        take(client.received(bytes, for: exchange, at: now))
    }

    /// Simulates the answer to the latest message. The answer comes from the server to which the message was sent.
    func answer(
        _ code: DNSResponseCode = .noError, _ answers: [DNSRecord] = [], authorities: [DNSRecord] = [],
        change: (inout DNSMessage) -> Void = { _ in }
    ) {
        guard let last = sent.last else { return }
        receive(
            DNSRig.response(to: last.bytes, code, answers: answers, authorities: authorities, change: change),
            for: last.exchange)
    }

    /// Advances the clock to `end`. Handles all events that are due on the way.
    func advance(to end: Duration) {
        while let deadline = client.deadline, deadline <= end {
            now = max(now, deadline)
            take(client.advance(to: now))
        }
        now = end
    }

    func take(_ actions: [DNSClient.Action]) {
        for action in actions {
            switch action {
            case .send(let exchange, let bytes, _, let server, let carrier):
                sent.append(Sent(exchange: exchange, bytes: bytes, server: server, carrier: carrier))
            case .forget(let exchange): forgotten.insert(exchange)
            case .answer(let question, let answer): answers[question] = answer
            }
        }
    }

    var isIdle: Bool { client.isIdle }
    var nextDeadline: Duration? { client.deadline }

    /// The number of DNS exchanges that are still waiting for an answer.
    var openCount: Int { sent.count { !forgotten.contains($0.exchange) } }
}
