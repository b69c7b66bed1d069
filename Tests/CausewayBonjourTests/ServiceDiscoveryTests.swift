import Causeway
import CausewayBonjour
import Foundation
import Testing

@Suite("Service discovery as async sequences: invalid arguments")
struct ServiceDiscoveryTests {
    private typealias Identity = ServiceDiscovery.Identity

    @Test("C116: an identity is encoded and decoded, and is an endpoint")
    func saved() throws {
        let identity = Identity(name: "Küche. 1", type: "_http._tcp")
        let copy = try JSONDecoder().decode(Identity.self, from: JSONEncoder().encode(identity))
        #expect(copy == identity)
        #expect(copy.endpoint == .service(name: "Küche. 1", type: "_http._tcp", domain: "local.", interface: nil))
    }

    @Test(
        "Invalid types, names and domains are refused at once",
        arguments: ["", "http", "_http._sctp", "_._tcp"])
    func refused(_ type: String) async {
        #expect(throws: NWError.dns(-65_540)) { _ = try ServiceDiscovery.browse(type) }
        #expect(throws: NWError.dns(-65_540)) { _ = try ServiceDiscovery.resolve(Identity(name: "a", type: type)) }
        await #expect(throws: NWError.dns(-65_540)) { _ = try await ServiceDiscovery.register(type: type, port: 1) }
        #expect(throws: NWError.dns(-65_540)) { _ = try ServiceDiscovery.records(of: "a..b", type: "A") }
        #expect(throws: NWError.dns(-65_540)) { _ = try ServiceDiscovery.records(of: "a.local", type: "NOPE") }
    }

    @Test("A type that RFC 6335 does not allow is not registered")
    func refusedRegistration() async {
        await #expect(throws: NWError.dns(-65_540)) {
            _ = try await ServiceDiscovery.register(type: "_a_b._tcp", port: 1)
        }
    }

    @Test("Invalid records are refused at once")
    func refusedRecords() async {
        await #expect(throws: NWError.dns(-65_540)) {
            _ = try await ServiceDiscovery.register(record: "a.local", type: "A", content: [1, 2, 3])
        }
    }

    @Test(
        "A registration in a domain of name servers fails at once, and says that it is not supported",
        arguments: ["example.com", "example.com.", "local.example.com", "com"])
    func wideAreaRegistration(_ domain: String) async {
        await #expect(throws: NWError.posix(.ENOTSUP)) {
            _ = try await ServiceDiscovery.register("A", type: "_http._tcp", domain: domain, port: 80)
        }
        await #expect(throws: NWError.posix(.ENOTSUP)) {
            _ = try await ServiceDiscovery.register(record: "a.\(domain)", type: "TXT", content: [0])
        }
        let queue = DispatchQueue(label: "calls")
        #expect(throws: NWError.posix(.ENOTSUP)) {
            _ = try ServiceDiscovery.register("A", type: "_http._tcp", domain: domain, port: 80, queue: queue) { _ in }
        }
    }

    @Test("An invalid domain is refused")
    func impossibleDomain() {
        let identity = Identity(name: "a", type: "_http._tcp", domain: "a..b")
        #expect(throws: NWError.dns(-65_540)) { _ = try ServiceDiscovery.resolve(identity) }
        #expect(throws: NWError.dns(-65_540)) { _ = try ServiceDiscovery.browse("_http._tcp", domain: "a..b") }
        let queue = DispatchQueue(label: "calls")
        for domain in ["a..b", "."] {
            #expect(throws: NWError.dns(-65_540)) {
                _ = try ServiceDiscovery.register("A", type: "_http._tcp", domain: domain, port: 80, queue: queue) {
                    _ in
                }
            }
        }
    }

    // RFC 6763 §11.
    @Test("The link's own domains are known without a query")
    func domains() async throws {
        for try await change in try ServiceDiscovery.domains(.browsing, of: "local.") {
            #expect(change == .added("local."))
            break
        }
    }
}
