import CausewayLines
import Testing

@Suite("A program with CausewayLines alone")
struct SingleImportTests {
    @Test("It names parameters and endpoints")
    func names() {
        let parameters: NWParameters = .tcp
        parameters.defaultProtocolStack.applicationProtocols.insert(LineFramer.options, at: 0)
        #expect(parameters.defaultProtocolStack.applicationProtocols.count == 1)
        let port: NWEndpoint.Port = 9_000
        #expect(port.rawValue == 9_000)
    }
}
