import CausewayRuntime
import CausewayWire
import Testing

@Suite("Records of an advertised service (RFC 6763)")
struct ServiceRecordTests {
    private static func description(_ name: String, type: String = "_ipp._tcp", text: [UInt8] = []) throws
        -> ServiceDescription
    { try ServiceDescription(name: name, typeText: type, port: 631, text: text) }

    @Test("C61 C83 C88 C90: unique SRV and TXT records, and pointers from the type, the list of types and each subtype")
    func records() throws {
        let records = try Self.description("Küche. 1", type: "_ipp._tcp,_color,_duplex").records(on: "alpha.local")
            .records
        let instance = try #require(DNSName("Küche. 1", in: "_ipp._tcp.local"))
        #expect(records.filter { $0.name == instance }.map(\.type) == [.srv, .txt])
        #expect(records.filter { $0.name == instance }.allSatisfy { $0.flushesCache })
        #expect(records.filter { $0.type == .srv }.allSatisfy { $0.timeToLive == 120 })
        let pointers = records.filter { $0.type == .ptr }
        #expect(pointers.allSatisfy { !$0.flushesCache && $0.timeToLive == 4_500 })
        let names: Set<DNSName> = [
            "_ipp._tcp.local", "_services._dns-sd._udp.local", "_color._sub._ipp._tcp.local",
            "_duplex._sub._ipp._tcp.local",
        ]
        #expect(Set(pointers.map(\.name)) == names)
    }

    @Test("C83: without entries the TXT record is one zero byte, never empty")
    func emptyText() throws {
        let records = try Self.description("A").records(on: "alpha.local").records
        #expect(records.contains { $0.data == .text([0]) })
    }

    @Test(
        "C89: a placeholder for a flagship protocol is a single record: port 0, an existing target, and no pointer to it"
    )
    func placeholder() throws {
        let name = try #require(DNSName("Printer", in: "_printer._tcp.local"))
        let record = DNSRecord(
            name, .srv, flushesCache: true, timeToLive: 120,
            .service(priority: 0, weight: 0, port: 0, target: "alpha.local"))
        let description = ServiceDescription(record: record)
        #expect(description.records(on: "beta.local").records == [record])
        #expect(!description.mayRename && description.name == name.description)
    }

    @Test("C82: priority and weight are zero")
    func weights() throws {
        let records = try Self.description("A").records(on: "alpha.local").records
        #expect(records.contains { $0.data == .service(priority: 0, weight: 0, port: 631, target: "alpha.local") })
    }

    @Test("C78: a name is normalized text of 1 to 63 bytes without control characters")
    func names() throws {
        let composed = try Self.description("e\u{301}").name
        #expect(composed.unicodeScalars.map(\.value) == [0xE9])
        let long = try Self.description(String(repeating: "é", count: 40)).name
        #expect(long.utf8.count == 62)
        for name in ["", "a\u{7}b", "a\u{7F}"] {
            #expect(throws: DNSServiceType.Mistake.name) { _ = try Self.description(name) }
        }
        #expect(throws: DNSServiceType.Mistake.name) {
            _ = try ServiceDescription(
                name: String(repeating: "x", count: 64), typeText: "_a._tcp", port: 1, text: [], mayRename: false)
        }
    }
}
