import Causeway
import CausewayWire
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Host resolver")
    struct HostResolverTests {
        /// Calls `body` with a host resolver that sends its queries to the test's server.
        private static func with(
            _ answer: @escaping NameServer.Answer, _ body: (HostResolver, NameServer) async throws -> Void
        ) async throws {
            let server = try NameServer(answer)
            let port = try #require(NWEndpoint.Port(rawValue: server.port))
            try await body(HostResolver(server: .hostPort(host: .ipv4(.loopback), port: port)), server)
        }

        private static func name(_ text: String) throws -> DNSName { try #require(DNSName(text)) }

        @Test("A name resolves to its addresses of both families, or of the requested one")
        func addresses() async throws {
            let alias = try Self.name("alias.example.com")
            try await Self.with { query, _ in
                let name = query.questions[0].name
                let records: [DNSRecord] =
                    switch query.questions[0].type {
                    case .a: [DNSRecord(alias, .a, timeToLive: 60, .ipv4(IPv4Address("192.0.2.7")!))]
                    case .aaaa: [DNSRecord(alias, .aaaa, timeToLive: 30, .ipv6(IPv6Address("2001:db8::7")!))]
                    default: []
                    }
                return query.response(.noError, [DNSRecord(name, .cname, timeToLive: 90, .name(alias))] + records)
            } _: { resolver, _ in
                let all = try await resolver.addresses(of: "www.example.com")
                #expect(all.map(\.host) == ["2001:db8::7", "192.0.2.7"])
                #expect(all.map(\.timeToLive) == [.seconds(30), .seconds(60)])
                let some = try await resolver.addresses(of: "www.example.com", family: .ipv4)
                #expect(some.map(\.host) == ["192.0.2.7"])
            }
        }

        @Test("An address needs no lookup, and a name in the hosts file needs no server")
        func known() async throws {
            #expect(try await HostResolver().addresses(of: "2001:db8::9").map(\.host) == ["2001:db8::9"])
            let local = try await HostResolver().addresses(of: "localhost", family: .ipv4)
            #expect(local.map(\.host) == ["127.0.0.1"])
        }

        @Test("An address resolves to its names")
        func reverse() async throws {
            let target = try Self.name("host.example.com")
            try await Self.with { query, _ in
                let question = query.questions[0]
                guard question.type == .ptr, question.name == DNSName.reverse(.ipv4(IPv4Address(bits: 0xC000_0207)))
                else {
                    return query.response(.nameError)
                }
                return query.response(.noError, [DNSRecord(question.name, .ptr, timeToLive: 60, .name(target))])
            } _: { resolver, _ in
                let names = try await resolver.names(of: "192.0.2.7")
                #expect(names == ["host.example.com"])
                await #expect(throws: NWError.dns(-65_554)) { try await resolver.names(of: "192.0.2.8") }
                await #expect(throws: NWError.posix(.EINVAL)) { try await resolver.names(of: "example.com") }
            }
        }

        @Test("Records have their content as text and as bytes")
        func records() async throws {
            let exchange = try Self.name("mail.example.com")
            try await Self.with { query, _ in
                let question = query.questions[0]
                return query.response(
                    .noError,
                    [DNSRecord(question.name, .mx, timeToLive: 300, .mail(preference: 10, exchange: exchange))])
            } _: { resolver, _ in
                let records = try await resolver.records(of: "example.com", type: "MX")
                let record = try #require(records.first)
                #expect(records.count == 1 && record.type == "MX" && record.timeToLive == .seconds(300))
                #expect(record.content == "10 mail.example.com.")
                #expect(record.data == Data([0, 10, 4]) + Data("mail\u{7}example\u{3}com\u{0}".utf8))
                await #expect(throws: NWError.posix(.EINVAL)) { try await resolver.records(of: "a", type: "NONE") }
            }
        }

        @Test("A name that does not exist, and a server that refuses")
        func failures() async throws {
            try await Self.with { query, _ in
                query.response(.nameError)
            } _: { resolver, _ in
                await #expect(throws: NWError.dns(-65_554)) { try await resolver.addresses(of: "no.example.com") }
            }
            await #expect(throws: NWError.posix(.EINVAL)) {
                try await HostResolver(server: .unix(path: "/tmp/x")).records(of: "example.com", type: "A")
            }
        }

        @Test("A cancelled lookup ends at once, while its server is silent", arguments: [true, false])
        func cancelled(isLate: Bool) async throws {
            let asked = Mailbox<Bool>()
            try await Self.with { _, _ in
                asked.put(true)
                return nil
            } _: { resolver, _ in
                let lookUp = Task { try await resolver.records(of: "example.com", type: "A") }
                if isLate { _ = try await asked.next() }
                lookUp.cancel()
                await #expect(throws: NWError.posix(.ECANCELED)) { try await lookUp.value }
            }
        }
    }
}
