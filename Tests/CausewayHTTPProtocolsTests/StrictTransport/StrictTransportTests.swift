import CausewayWire
import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

@Suite("HTTP Strict Transport Security (RFC 6797)")
struct StrictTransportTests {
    private func policy(_ values: String...) -> StrictTransportPolicy? {
        var fields = FieldSection()
        for value in values { fields.append("strict-transport-security", value) }
        return StrictTransportPolicy(fields)
    }

    @Test("Grammar (§6.1)")
    func grammar() {
        #expect(policy("max-age=31536000")?.maxAge == 31_536_000)
        #expect(policy(" MAX-AGE = \"7\" ; includeSubDomains ")?.includesSubdomains == true)
        #expect(policy("includesubdomains;;max-age=0;")?.maxAge == 0)
        #expect(policy("max-age=1; preload; x=\"a;b\"")?.includesSubdomains == false)
        #expect(policy("max-age=99999999999999999999999")?.maxAge == 3_155_760_000)
        // Only the first field line counts (§8.1).
        #expect(policy("max-age=1", "max-age=2")?.maxAge == 1)
        for text in [
            "", "includeSubDomains", "max-age", "max-age=", "max-age=-1", "max-age=1.5", "max-age=1 2", "max-age=\"",
            "max-age=1; max-age=2", "max-age=1; x; X", "max-age=1, includeSubDomains", "=1; max-age=1", "max-age=\"\"",
        ] { #expect(policy(text) == nil, "\(text)") }
    }

    private func hosts(_ host: String, _ value: String = "max-age=100", isSecure: Bool = true) throws
        -> StrictTransportHosts
    {
        var hosts = StrictTransportHosts()
        hosts.note(try #require(policy(value)), of: HTTPOrigin(isSecure: isSecure, host: host), at: 1_000)
        return hosts
    }

    @Test("Hosts are known by name, until their policy expires (§8.1, §8.2)")
    func known() throws {
        var known = try hosts("a.example")
        #expect(known.contains("a.example", at: 1_099) && known.contains("A.EXAMPLE.", at: 1_000))
        #expect(!known.contains("a.example", at: 1_100))
        #expect(!known.contains("b.a.example", at: 1_000) && !known.contains("example", at: 1_000))
        known.note(try #require(policy("max-age=0")), of: HTTPOrigin(isSecure: true, host: "a.example"), at: 1_001)
        #expect(known.isEmpty)
    }

    @Test("Subdomains, if the policy includes them")
    func subdomains() throws {
        let known = try hosts("a.example", "max-age=100; includeSubDomains")
        #expect(known.contains("c.b.a.example", at: 1_000) && known.contains("a.example", at: 1_000))
        #expect(!known.contains("ba.example", at: 1_000) && !known.contains("example", at: 1_000))
    }

    @Test("Plain connections and addresses declare nothing", arguments: ["127.0.0.1", "[::1]", "1.2.3.4.", ""])
    func ignored(_ host: String) throws {
        #expect(try hosts(host).isEmpty)
        #expect(try hosts("a.example", isSecure: false).isEmpty)
    }

    @Test(
        "Targets (§8.3)",
        arguments: [
            ("http://a.example/x?q", "https://a.example/x?q"), ("http://a.example:80/", "https://a.example/"),
            ("http://a.example:8080/", "https://a.example:8080/"), ("ws://a.example/", "wss://a.example/"),
            ("https://a.example/", nil), ("http://b.example/", nil), ("ftp://a.example/", nil),
        ] as [(String, String?)])
    func targets(_ target: String, _ expected: String?) throws {
        let known = try hosts("a.example")
        #expect(known.secured(try #require(URIReference(target)), at: 1_000)?.description == expected)
    }

    private func note(_ host: String, _ value: String, at now: Int, in known: inout StrictTransportHosts) throws -> Bool
    {
        known.note(try #require(policy(value)), of: HTTPOrigin(isSecure: true, host: host), at: now)
    }

    /// Merges the pending changes into the file. The code that owns the policy table works in the same way.
    private func write(_ known: inout StrictTransportHosts, _ file: inout [UInt8], at now: Int) {
        let changes = known.takeChanges()
        let old = StrictTransportRecord.decode(file, at: now)
        let merged = StrictTransportHosts.merge(old, with: changes, at: now)
        file = StrictTransportRecord.encode(merged)
        known.adopt(merged, at: now)
    }

    @Test("Hosts outlive the memory; small extensions are not written, changes and ends are")
    func file() throws {
        var file: [UInt8] = []
        var known = StrictTransportHosts(hasFile: true)
        #expect(try note("a.example", "max-age=1600; includeSubDomains", at: 0, in: &known))
        #expect(try note("b.example", "max-age=1600", at: 0, in: &known))
        #expect(try !note("c.example", "max-age=0", at: 0, in: &known))
        write(&known, &file, at: 0)
        #expect(try !note("a.example", "max-age=1600; includeSubDomains", at: 100, in: &known))
        // The change in memory was not written yet. So the memory contains newer information than the file.
        #expect(known.contains("x.a.example", at: 1_650))
        #expect(try note("a.example", "max-age=1600; includeSubDomains", at: 101, in: &known))
        #expect(try note("b.example", "max-age=0", at: 101, in: &known))
        write(&known, &file, at: 101)
        var other = StrictTransportHosts(hasFile: true)
        other.adopt(StrictTransportRecord.decode(file, at: 102), at: 102)
        #expect(other.count == 1 && other.contains("x.a.example", at: 1_700) && !other.contains("a.example", at: 1_701))
        #expect(try note("a.example", "max-age=1600", at: 101, in: &other))
        #expect(StrictTransportRecord.decode(file, at: 1_701).isEmpty)
    }

    @Test("Two memories of one file learn of each other's hosts and removals")
    func sharedFile() throws {
        var file: [UInt8] = []
        var (one, other) = (StrictTransportHosts(hasFile: true), StrictTransportHosts(hasFile: true))
        _ = try note("a.example", "max-age=1000", at: 0, in: &one)
        _ = try note("b.example", "max-age=1000", at: 0, in: &other)
        write(&one, &file, at: 0)
        write(&other, &file, at: 0)
        #expect(other.contains("a.example", at: 1) && !one.contains("b.example", at: 1))
        let isChanged = other.removeAll()
        #expect(isChanged && other.isEmpty)
        write(&other, &file, at: 1)
        #expect(StrictTransportRecord.decode(file, at: 1).isEmpty)
        _ = try note("c.example", "max-age=1000", at: 1, in: &one)
        write(&one, &file, at: 1)
        #expect(one.contains("c.example", at: 2) && !one.contains("a.example", at: 2) && one.count == 1)
        // Simulate a failed write of the changes. The changes must be written again.
        _ = try note("d.example", "max-age=1000", at: 2, in: &one)
        one.restore(one.takeChanges())
        write(&one, &file, at: 2)
        #expect(StrictTransportRecord.decode(file, at: 2).map(\.host) == ["c.example", "d.example"])
    }

    @Test("Damaged and impossible records of a file are ignored")
    func untrustedFile() {
        let far = StrictTransportRecord("far.example", expires: 99_999_999_999, includesSubdomains: false)
        let good = StrictTransportRecord("a.example", expires: 2_000, includesSubdomains: true)
        let wrong = [
            "", "A.example", "a.example.", "127.0.0.1", "[::1]", "a b", "ä.example", String(repeating: "a", count: 254),
        ]
        .map { StrictTransportRecord($0, expires: 2_000, includesSubdomains: false) }
        let file = StrictTransportRecord.encode(wrong + [good, far])
        let read = StrictTransportRecord.decode(file, at: 1_000)
        #expect(read.map(\.host) == ["a.example", "far.example"])
        #expect(read.last?.expires == 1_000 + 3_155_760_000)
        // A single damaged byte makes at most one record invalid.
        for index in file.indices {
            var damaged = file
            damaged[index] ^= 0x20
            #expect(StrictTransportRecord.decode(damaged, at: 1_000).count <= 2)
        }
        #expect(StrictTransportRecord.decode(Array(file.dropLast(3)), at: 1_000) == [good])
        for text in ["1\t2", "a.example\t-5\t", "a.example\t123456789012\t", "a.example\t2000\tx", "a.example\t\t"] {
            let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map { Array($0.utf8) }
            let file = RecordFile.encode(kind: "causeway strict-transport 1", [fields])
            #expect(StrictTransportRecord.decode(file, at: 1_000).isEmpty, "\(text)")
        }
    }

    @Test("A file holds as many hosts as the memory")
    func boundedFile() {
        let records = (0..<5_000).map {
            StrictTransportRecord("h\($0).example", expires: $0 + 1, includesSubdomains: false)
        }
        #expect(StrictTransportHosts.merge(records, with: [:], at: 0).count == StrictTransportHosts.maximumCount)
        var known = StrictTransportHosts(hasFile: true)
        known.adopt(records, at: 0)
        #expect(known.count <= StrictTransportHosts.maximumCount && known.contains("h4999.example", at: 0))
    }

    @Test("The number of hosts is bounded; those that expire first are forgotten")
    func bounded() throws {
        var known = StrictTransportHosts()
        for number in 0..<10_000 {
            let brief = try #require(policy("max-age=\(number + 1)"))
            known.note(brief, of: HTTPOrigin(isSecure: true, host: "h\(number).example"), at: 0)
        }
        #expect(known.count <= StrictTransportHosts.maximumCount)
        #expect(known.contains("h9999.example", at: 0) && !known.contains("h0.example", at: 0))
    }
}
