import CausewayHTTPServer
import Testing

/// A program that imports no other module of this package, and not Foundation.
@Suite("A program with CausewayHTTPServer alone")
struct SingleImportTests {
    @Test("It names parameters, endpoints, TLS options and content")
    func names() {
        let port: NWEndpoint.Port = 8_080
        let parameters: NWParameters = HTTPServer.defaultParameters
        parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: port)
        #expect(parameters.requiredLocalEndpoint == NWEndpoint.hostPort(host: "127.0.0.1", port: 8_080))
        let tls = NWProtocolTLS.Options()
        sec_protocol_options_add_tls_application_protocol(tls.securityProtocolOptions, "h2")
        let content = Data("hello".utf8)
        let response = HTTPServerResponse.content(content, type: "text/plain")
        #expect(response.fields["Content-Type"] == "text/plain")
        let decoded: (HTTPServerRequest) async throws -> Int = { try await $0.json(decoder: JSONDecoder()) }
        _ = decoded
        let conflict: NWError = .dns(-65_548)
        #expect(conflict != .dns(-65_563))
    }
}
