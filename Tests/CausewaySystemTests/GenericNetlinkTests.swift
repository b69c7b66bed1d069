import CausewayWire
import Testing

@testable import CausewaySystem

@Suite("Generic netlink, asked of the kernel")
struct GenericNetlinkTests {
    @Test("A family is found by its name, and one that is not there is said not to be")
    func families() throws {
        var socket = try NetlinkSocket(generic: ())
        // The family of families has the same number everywhere.
        #expect(try socket.family(named: "nlctrl") == 16)
        do {
            _ = try socket.family(named: "causeway-none")
            Issue.record("the kernel knows everything")
        } catch {
            #expect(error.errno == ENOENT)
        }
        // The socket is still in step.
        #expect(try socket.family(named: "nlctrl") == 16)
    }
}
