import Causeway
import Testing

@Suite("Invalid requests for Multipath TCP endpoints")
struct MultipathEndpointsTests {
    @Test("A service that uses one path has no endpoints")
    func disabled() {
        #expect(throws: NWError.posix(.EINVAL)) { try MultipathEndpoints(for: .disabled) }
    }
}
