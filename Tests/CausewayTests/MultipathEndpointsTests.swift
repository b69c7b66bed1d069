import Causeway
import Testing

@Suite("Endpoints of Multipath TCP, asked for wrongly")
struct MultipathEndpointsTests {
    @Test("There are none for a service that uses one path")
    func disabled() {
        #expect(throws: NWError.posix(.EINVAL)) { try MultipathEndpoints(for: .disabled) }
    }
}
