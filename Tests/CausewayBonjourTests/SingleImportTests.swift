import CausewayBonjour
import Testing

@Suite("A program with CausewayBonjour alone")
struct SingleImportTests {
    @Test("It names endpoints and errors")
    func names() {
        let printer = ServiceDiscovery.Identity(name: "Lab", type: "_ipp._tcp")
        let endpoint: NWEndpoint = printer.endpoint
        #expect(endpoint == .service(name: "Lab", type: "_ipp._tcp", domain: "local.", interface: nil))
        let invalid: NWError = .dns(-65_540)
        #expect(throws: invalid) { _ = try ServiceDiscovery.browse("ipp") }
    }
}
