import CausewayWire
import Testing

@testable import CausewaySystem

@Suite("Generic netlink with the real kernel")
struct GenericNetlinkTests {
    @Test("A family is found by its name, and a missing one is reported")
    func families() throws {
        var socket = try NetlinkSocket(generic: ())
        // The family that controls generic netlink (`nlctrl`) has the number 16 on every system.
        #expect(try socket.family(named: "nlctrl") == 16)
        do {
            _ = try socket.family(named: "causeway-none")
            Issue.record("the kernel has this family")
        } catch {
            #expect(error.errno == ENOENT)
        }
        // After the error, the socket still finds the right answer to each request.
        #expect(try socket.family(named: "nlctrl") == 16)
    }

    @Test("The socket for a repeated listing uses the protocol of the first one")
    func reopened() throws {
        let first = try NetlinkSocket(generic: ())
        var socket = try first.reopened()
        #expect(try socket.family(named: "nlctrl") == 16)
    }
}
