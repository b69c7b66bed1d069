import CausewayRuntime
import Foundation
import Testing

@testable import Causeway

@Suite("Connections used by tasks")
struct ConnectionTaskTests {
    private let endpoint = NWEndpoint.hostPort(host: "127.0.0.1", port: 9)

    @Test("Grouped content is not sent early, because it must not arrive twice")
    func groupedContentIsNotEarly() async {
        let parameters = NWParameters.tcp
        parameters.allowFastOpen = true
        let connection = NWConnection(to: endpoint, using: parameters)
        let task = Task { try await connection.send(together: [Data("once".utf8), Data("withdrawn".utf8)]) }
        task.cancel()
        await #expect(throws: NWError.posix(.ECANCELED)) { try await task.value }
        let flow = connection.driver.flow
        #expect(flow.unsentByteCount == 4)
        #expect(flow.earlyContent(atMost: 100) == Data())
    }
}
