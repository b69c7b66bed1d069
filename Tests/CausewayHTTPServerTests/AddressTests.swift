import CausewayTypes
import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: addresses")
struct AddressTests {
    @Test("An address replaces the local endpoint of the parameters, and leaves the parameters themselves alone")
    func applied() {
        let parameters = HTTPServer.defaultParameters
        parameters.requiredLocalEndpoint = .hostPort(host: "192.0.2.9", port: 9)
        let loopback = HTTPServer.Address.loopback(port: 8_080).applied(to: parameters)
        let interface = NWInterface(name: "lo")
        #expect(loopback.requiredInterface == interface)
        #expect((loopback.requiredLocalEndpoint == nil) == (interface != nil))
        let everywhere = HTTPServer.Address.any(port: 80).applied(to: parameters)
        #expect(everywhere.requiredLocalEndpoint == nil && everywhere.requiredInterface == nil)
        let host = HTTPServer.Address.host("2001:db8::1", port: 80).applied(to: parameters)
        #expect(host.requiredLocalEndpoint == .hostPort(host: "2001:db8::1", port: .any))
        #expect(parameters.requiredLocalEndpoint == .hostPort(host: "192.0.2.9", port: 9))
        #expect(parameters.requiredInterface == nil)
    }

    @Test("The default is loopback, unless the parameters require something else")
    func standard() {
        let parameters = HTTPServer.defaultParameters
        #expect(HTTPServer.Address.standard(for: parameters) == .loopback(port: .any))
        for change in [
            { $0.requiredLocalEndpoint = .hostPort(host: "192.0.2.9", port: .any) },
            { $0.requiredInterface = NWInterface(name: "x0", index: 1, type: .other) },
            { $0.requiredInterfaceType = .wifi },
        ] as [(NWParameters) -> Void] {
            let parameters = HTTPServer.defaultParameters
            change(parameters)
            #expect(HTTPServer.Address.standard(for: parameters) == nil)
        }
    }

    static let addresses: [HTTPServer.Address] = [
        .loopback(port: 8_080), .any(port: 8_080), .host("127.0.0.1", port: 8_080),
    ]

    @Test("The port of an address does not conflict with that of the parameters", arguments: addresses)
    func port(_ address: HTTPServer.Address) throws {
        let parameters = HTTPServer.defaultParameters
        parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: 9)
        #expect(address.port == 8_080)
        #expect(throws: Never.self) {
            _ = try HTTPServer(at: address, using: parameters, routes: HTTPServerRoutes())
        }
    }
}
