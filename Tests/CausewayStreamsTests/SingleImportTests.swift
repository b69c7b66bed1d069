import CausewayStreams
import Foundation
import Testing

@Suite("A program with CausewayStreams alone")
struct SingleImportTests {
    @Test("It names connections, endpoints and parameters")
    func names() {
        let parameters: NWParameters = .tcp
        let endpoint: NWEndpoint = .hostPort(host: "192.0.2.1", port: 9)
        #expect(endpoint == .hostPort(host: "192.0.2.1", port: 9) && parameters.requiredLocalEndpoint == nil)
        let start: (NWConnection) -> InputStream = { Stream.streams(over: $0).input }
        _ = start
        let name: CFString = "kCFStreamPropertySOCKSProxy"
        #expect(kCFStreamPropertySOCKSProxy == name)
    }
}
