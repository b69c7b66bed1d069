import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Name lookup")
struct NameLookupTests {
    typealias Action = NameLookup.Action

    static func context(_ resolv: String = "", hosts: String = "", order: String = "") -> ResolverEnvironment {
        var value = ResolverEnvironment()
        value.configuration = ResolverConfiguration(parsing: resolv)
        value.hosts = HostsFile(parsing: hosts)
        value.order = NameServiceOrder(parsing: order)
        value.ownName = "thishost"
        return value
    }

    static func v4(_ text: String) -> InternetAddress { .ipv4(IPv4Address(text) ?? .any) }
    static func v6(_ text: String) -> InternetAddress { .ipv6(IPv6Address(text) ?? .any) }

    static func answer(_ name: DNSName, _ records: [DNSRecord]) -> DNSAnswer {
        DNSAnswer(records.isEmpty ? .noSuchRecord : .records(records), for: name)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String { "\(name) with \(order.isEmpty ? "no order" : order)" }
        var name: String
        var families: Set<NameLookup.Family> = [.ipv4, .ipv6]
        var resolv = ""
        var hosts = ""
        var order = ""
        var first: [Action]
    }

    static let rows: [Row] = [
        Row(name: "www.example.com", first: [.ask("www.example.com", .aaaa), .ask("www.example.com", .a)]),
        Row(name: "www.example.com", families: [.ipv4], first: [.ask("www.example.com", .a)]),
        Row(name: "www.example.com", resolv: "options no-aaaa", first: [.ask("www.example.com", .a)]),
        Row(
            name: "www.example.com", families: [.ipv6], resolv: "options no-aaaa",
            first: [.ask("www.example.com", .aaaa)]),
        Row(name: "www.example.com", resolv: "options single-request", first: [.ask("www.example.com", .aaaa)]),
        Row(
            name: "b\u{FC}cher.example",
            first: [.ask("xn--bcher-kva.example", .aaaa), .ask("xn--bcher-kva.example", .a)]),
        Row(
            name: "www", resolv: "search a.example b.example",
            first: [.ask("www.a.example", .aaaa), .ask("www.a.example", .a)]),
        Row(name: "www.", resolv: "search a.example", first: [.ask("www", .aaaa), .ask("www", .a)]),
        Row(
            name: "a.b", resolv: "search x.example\noptions ndots:2",
            first: [.ask("a.b.x.example", .aaaa), .ask("a.b.x.example", .a)]),
        Row(
            name: "box", hosts: "192.0.2.7 BOX box.example",
            first: [.found([v4("192.0.2.7")], .ipv4, .host), .end(nil)]),
        Row(
            name: "box", hosts: "2001:db8::7 box\n192.0.2.7 box",
            first: [.found([v6("2001:db8::7")], .ipv6, .host), .found([v4("192.0.2.7")], .ipv4, .host), .end(nil)]),
        Row(name: "box", families: [.ipv6], hosts: "192.0.2.7 box", first: [.ask("box", .aaaa)]),
        Row(
            name: "box", hosts: "192.0.2.7 box", order: "hosts: dns files",
            first: [.ask("box", .aaaa), .ask("box", .a)]),
        Row(name: "unknown", order: "hosts: files", first: [.end(.notFound)]),
        Row(name: "unknown", order: "hosts: files [NOTFOUND=return] dns", first: [.end(.notFound)]),
        Row(
            name: "localhost",
            first: [.found([v6("::1")], .ipv6, .host), .found([v4("127.0.0.1")], .ipv4, .host), .end(nil)]),
        Row(name: "a.LocalHost", families: [.ipv4], first: [.found([v4("127.0.0.1")], .ipv4, .host), .end(nil)]),
        Row(
            name: "localhost", hosts: "127.0.0.1 localhost",
            first: [.found([v4("127.0.0.1")], .ipv4, .host), .end(nil)]),
        Row(name: "x.invalid", first: [.end(.notFound)]),
        Row(name: "x.onion", first: [.end(.notFound)]),
        Row(name: "printer.local", first: [.askLink("printer.local")]),
        Row(
            name: "printer.local", hosts: "192.0.2.9 printer.local",
            first: [.found([v4("192.0.2.9")], .ipv4, .host), .end(nil)]),
        Row(
            name: "printer.local", order: "hosts: files mdns4_minimal [NOTFOUND=return] dns",
            first: [.askLink("printer.local")]),
        Row(name: "printer.local", order: "hosts: files", first: [.askLink("printer.local")]),
        Row(name: "local", first: [.end(.notFound)]),
        Row(
            name: "thishost", order: "hosts: files myhostname dns",
            first: [.found([v6("::1")], .ipv6, .host), .found([v4("127.0.0.2")], .ipv4, .host), .end(nil)]),
        Row(name: "", first: [.end(.invalidName)]),
        Row(name: "a..b", first: [.end(.invalidName)]),
        Row(name: "a b.example", first: [.end(.invalidName)]),
        Row(name: String(repeating: "x", count: 64), first: [.end(.invalidName)]),
    ]

    @Test("C1 C5 C6: the first action for a name", arguments: rows)
    func begins(_ row: Row) {
        var lookup = NameLookup(
            row.name, families: row.families, in: Self.context(row.resolv, hosts: row.hosts, order: row.order))
        #expect(lookup.begin() == row.first)
    }

    // RFC 8305 §3.
    @Test("Each family is reported as it arrives, and the lookup ends with the second")
    func reportsFamilies() {
        let name: DNSName = "www.example.com"
        var lookup = NameLookup("www.example.com", families: [.ipv4, .ipv6], in: Self.context())
        _ = lookup.begin()
        let four = lookup.answered(name, .a, with: Self.answer(name, [DNSRig.a(name, 1)]), from: .query(.udp))
        #expect(four == [.found([v4("198.51.100.1")], .ipv4, .query(.udp)), .settled(.ipv4)])
        let six = lookup.answered(name, .aaaa, with: Self.answer(name, []), from: .query(.udp))
        #expect(six == [.settled(.ipv6), .end(nil)])
        #expect(lookup.answered(name, .aaaa, with: Self.answer(name, []), from: .query(.udp)) == [])
    }

    private func v4(_ text: String) -> InternetAddress { Self.v4(text) }

    @Test("Search domains are tried in turn until one has an address of either family")
    func searches() {
        var lookup = NameLookup(
            "www", families: [.ipv4, .ipv6], in: Self.context("search a.example b.example"))
        var actions = lookup.begin()
        for name in ["www.a.example", "www.b.example"] as [DNSName] {
            #expect(actions == [.ask(name, .aaaa), .ask(name, .a)])
            #expect(lookup.answered(name, .aaaa, with: Self.answer(name, []), from: .cache) == [])
            actions = lookup.answered(name, .a, with: DNSAnswer(.noSuchName, for: name), from: .cache)
        }
        #expect(actions == [.ask("www", .aaaa), .ask("www", .a)])
        #expect(lookup.answered("www", .aaaa, with: Self.answer("www", []), from: .cache) == [])
        #expect(lookup.answered("www", .a, with: Self.answer("www", []), from: .cache) == [.end(.notFound)])
    }

    @Test("Silent servers get no queries for other names")
    func endsWithSilence() {
        var lookup = NameLookup("www", families: [.ipv4], in: Self.context("search a.example"))
        _ = lookup.begin()
        let silent = DNSAnswer(.failed(.timedOut), for: "www.a.example")
        #expect(lookup.answered("www.a.example", .a, with: silent, from: .query(.udp)) == [.end(.timedOut)])
    }

    struct ProblemRow: Sendable, CustomTestStringConvertible {
        var testDescription: String { "\(failure)" }
        var failure: DNSFailure
        var problem: NameProblem
    }

    @Test(
        "Failures keep their codes",
        arguments: [
            ProblemRow(failure: .timedOut, problem: .timedOut),
            ProblemRow(failure: .unreachable, problem: .unreachable),
            ProblemRow(failure: .code(2), problem: .serverFailure), ProblemRow(failure: .code(5), problem: .refused),
            ProblemRow(failure: .aliasLoop, problem: .serverFailure),
        ])
    func problems(_ row: ProblemRow) {
        let name: DNSName = "www.example.com"
        var lookup = NameLookup("www.example.com", families: [.ipv4, .ipv6], in: Self.context())
        _ = lookup.begin()
        let failed = DNSAnswer(.failed(row.failure), for: name)
        #expect(lookup.answered(name, .aaaa, with: failed, from: .query(.udp)) == [])
        #expect(lookup.answered(name, .a, with: failed, from: .query(.udp)) == [.end(row.problem)])
    }

    @Test("The order of two failures does not matter", arguments: [true, false])
    func failureOrder(timesOutFirst: Bool) {
        let name: DNSName = "www.example.com"
        var failures: [DNSFailure] = [.timedOut, .code(2)]
        if !timesOutFirst { failures.reverse() }
        // Test two cases. In the first case, the lookup has another step after DNS. In the second case, it has another
        // search domain.
        for (resolv, order) in [("", "hosts: dns [TRYAGAIN=return] files"), ("search a.example", "hosts: dns")] {
            var lookup = NameLookup(
                "www.example.com", families: [.ipv4, .ipv6],
                in: Self.context(resolv, hosts: "192.0.2.7 www.example.com", order: order))
            _ = lookup.begin()
            let first = DNSAnswer(.failed(failures[0]), for: name)
            let second = DNSAnswer(.failed(failures[1]), for: name)
            #expect(lookup.answered(name, .aaaa, with: first, from: .query(.udp)) == [])
            #expect(lookup.answered(name, .a, with: second, from: .query(.udp)) == [.end(.timedOut)])
        }
    }

    @Test("A failure of one family does not affect the other")
    func halfFailure() {
        let name: DNSName = "www.example.com"
        var lookup = NameLookup("www.example.com", families: [.ipv4, .ipv6], in: Self.context())
        _ = lookup.begin()
        #expect(lookup.answered(name, .aaaa, with: DNSAnswer(.failed(.code(2)), for: name), from: .query(.udp)) == [])
        let four = lookup.answered(name, .a, with: Self.answer(name, [DNSRig.a(name, 1)]), from: .query(.udp))
        #expect(four == [.found([v4("198.51.100.1")], .ipv4, .query(.udp)), .settled(.ipv4), .end(nil)])
    }

    @Test("Expired answers are used at once, and fresh ones follow")
    func expired() {
        let name: DNSName = "www.example.com"
        var lookup = NameLookup("www.example.com", families: [.ipv4], in: Self.context())
        _ = lookup.begin()
        let old = lookup.answered(name, .a, with: Self.answer(name, [DNSRig.a(name, 1)]), from: .expiredCache)
        #expect(old == [.found([v4("198.51.100.1")], .ipv4, .expiredCache)])
        let new = lookup.answered(name, .a, with: Self.answer(name, [DNSRig.a(name, 2)]), from: .query(.udp))
        #expect(new == [.found([v4("198.51.100.2")], .ipv4, .query(.udp)), .settled(.ipv4), .end(nil)])
    }

    @Test("Families are queried one after the other if configured")
    func sequential() {
        let name: DNSName = "www.example.com"
        var lookup = NameLookup(
            "www.example.com", families: [.ipv4, .ipv6], in: Self.context("options single-request"))
        #expect(lookup.begin() == [.ask(name, .aaaa)])
        #expect(lookup.answered(name, .aaaa, with: Self.answer(name, []), from: .cache) == [.ask(name, .a)])
        #expect(
            lookup.answered(name, .a, with: Self.answer(name, [DNSRig.a(name, 1)]), from: .cache)
                == [.found([v4("198.51.100.1")], .ipv4, .cache), .settled(.ipv4), .end(nil)])
    }
}
