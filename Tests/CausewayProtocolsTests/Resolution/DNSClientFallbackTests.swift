import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

/// Tests the DNS client with servers that understand only simple queries.
@Suite("DNS client and servers with limited support")
struct DNSClientFallbackTests {
    let name: DNSName = "www.example.com"

    private func isExtended(_ sent: DNSDesk.Sent) throws -> Bool {
        try DNSRig.message(sent.bytes).extensions != nil
    }

    @Test("A server that drops queries with EDNS is queried without it after a second", arguments: [1, 2, 3])
    func dropsExtensions(_ attempts: Int) throws {
        let desk = DNSDesk { $0.attempts = attempts }
        let id = desk.ask(name)
        #expect(try isExtended(desk.sent[0]))
        desk.advance(to: .seconds(1))
        try #require(desk.sent.count == 2)
        #expect(try !isExtended(desk.sent[1]))
        desk.answer(.noError, [DNSRig.a(name, 1)])
        #expect(desk.answers[id]?.records == [DNSRig.a(name, 1)])
        // The client remembers that this server needs queries without EDNS, so it also sends the next query without it.
        // After ten minutes, it tries EDNS again.
        _ = desk.ask("b.example")
        #expect(try !isExtended(#require(desk.sent.last)))
        desk.answer(.nameError)
        desk.advance(to: .seconds(602))
        _ = desk.ask("c.example")
        #expect(try isExtended(#require(desk.sent.last)))
    }

    @Test("Each of two servers that drop EDNS gets its query without it in the second round")
    func twoServers() throws {
        let desk = DNSDesk([DNSRig.first, DNSRig.second])
        _ = desk.ask(name)
        desk.advance(to: .seconds(60))
        #expect(try desk.sent.map { try isExtended($0) } == [true, true, false, false])
    }

    @Test("A server that has answered with EDNS is queried with it after a lost datagram")
    func keepsExtensions() throws {
        let desk = DNSDesk()
        _ = desk.ask(name)
        desk.answer(.noError, [DNSRig.a(name, 1)]) { $0.extensions = DNSExtensions(payloadByteCount: 1_232) }
        let count = desk.sent.count
        _ = desk.ask("b.example")
        desk.advance(to: desk.now + .seconds(30))
        #expect(try desk.sent.dropFirst(count).map { try isExtended($0) } == [true, true])
    }

    @Test("With one attempt, a failing server is not queried again")
    func failsOnce() {
        let desk = DNSDesk { $0.attempts = 1 }
        let id = desk.ask(name)
        desk.answer(.serverFailure)
        #expect(desk.sent.count == 1)
        #expect(desk.answers[id]?.finding == .failed(.code(2)))
    }

    @Test("Addresses of a truncated answer are used if the server has no TCP, and are not cached")
    func truncatedAddresses() {
        let desk = DNSDesk()
        let id = desk.ask(name)
        for _ in 0..<2 {
            desk.answer(.noError, [DNSRig.a(name, 1)]) { $0.flags.insert(.isTruncated) }
            guard let last = desk.sent.last, last.carrier == .tcp else { break }
            desk.take(desk.client.failed(last.exchange, because: .connectionRefused, at: desk.now))
        }
        #expect(desk.answers[id]?.records == [DNSRig.a(name, 1)])
        #expect(desk.answers[id]?.timeToLive == .zero)
        #expect(desk.isIdle && desk.openCount == 0)
    }

    @Test(
        "A truncated answer without addresses is reported as truncated, whether TCP is refused or silent",
        arguments: [DNSRecordType.a, .txt], [true, false])
    func truncated(_ type: DNSRecordType, _ isRefused: Bool) {
        let desk = DNSDesk()
        let id = desk.ask(name, type)
        for _ in 0..<2 where desk.answers[id] == nil {
            guard let last = desk.sent.last(where: { $0.carrier == .udp }) else { continue }
            let bytes = DNSRig.response(to: last.bytes) { $0.flags.insert(.isTruncated) }
            desk.receive(bytes, for: last.exchange)
            guard let stream = desk.sent.last, stream.carrier == .tcp else { continue }
            guard isRefused else {
                desk.advance(to: desk.now + .seconds(1))
                continue
            }
            desk.take(desk.client.failed(stream.exchange, because: .connectionRefused, at: desk.now))
        }
        desk.advance(to: .seconds(60))
        #expect(desk.answers[id]?.finding == .failed(.truncated))
        #expect(desk.answers[id]?.server == DNSRig.first)
    }

    @Test("The complete answer over TCP replaces a truncated one")
    func whole() {
        let desk = DNSDesk()
        let id = desk.ask(name)
        desk.answer(.noError, [DNSRig.a(name, 1)]) { $0.flags.insert(.isTruncated) }
        desk.answer(.noError, [DNSRig.a(name, 1), DNSRig.a(name, 2)])
        #expect(desk.answers[id]?.records.count == 2)
        #expect(desk.answers[id]?.timeToLive == .seconds(300))
    }

    @Test("A closed port is reported as a refused connection, with the server")
    func refused() {
        let desk = DNSDesk()
        let id = desk.ask(name)
        for _ in 0..<2 {
            guard let last = desk.sent.last else { break }
            desk.take(desk.client.failed(last.exchange, because: .connectionRefused, at: desk.now))
        }
        #expect(desk.answers[id]?.finding == .failed(.connectionRefused))
        #expect(desk.answers[id]?.server == DNSRig.first)
        #expect(desk.sent.count == 2)
    }

    @Test(
        "A server that changes the case of names and has no TCP is trusted without that protection", arguments: [1, 2])
    func changesCase(_ attempts: Int) {
        let desk = DNSDesk { $0.attempts = attempts }
        let id = desk.ask(name)
        let lower: (inout DNSMessage) -> Void = { $0.questions = [DNSQuestion("www.example.com", .a)] }
        desk.answer(.noError, [DNSRig.a(name, 1)], change: lower)
        #expect(desk.sent.last?.carrier == .tcp)
        if let last = desk.sent.last {
            desk.take(desk.client.failed(last.exchange, because: .connectionRefused, at: desk.now))
        }
        #expect(desk.sent.last?.carrier == .udp)
        desk.answer(.noError, [DNSRig.a(name, 1)], change: lower)
        #expect(desk.answers[id]?.records == [DNSRig.a(name, 1)])
    }
}
