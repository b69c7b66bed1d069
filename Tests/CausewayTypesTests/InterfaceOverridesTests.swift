import CausewayTypes
import Testing

@Suite("The user's settings for interfaces")
struct InterfaceOverridesTests {
    @Test("Entries are separated by commas, spaces and lines; the first match counts")
    func parses() {
        let overrides = InterfaceOverrides(
            parsing: """
                usb0=cellular+expensive, eth1=ethernet+constrained   # comment, not=wifi
                wwan*=cellular+inexpensive
                wwan0=wifi wl*=wifi+unconstrained
                sat0=ultra-constrained
                """)
        #expect(overrides.mistakes.isEmpty)
        #expect(overrides["usb0"].type == .cellular && overrides["usb0"].isExpensive == true)
        #expect(overrides["eth1"].type == .wiredEthernet && overrides["eth1"].isConstrained == true)
        #expect(overrides["wwan0"].type == .cellular && overrides["wwan0"].isExpensive == false)
        #expect(overrides["wlp3s0"].isConstrained == false)
        #expect(overrides["sat0"].isUltraConstrained == true && overrides["sat0"].type == nil)
        #expect(overrides["not"] == .init() && overrides["usb"] == .init())
    }

    @Test(
        "Invalid entries are ignored and recorded",
        arguments: ["eth0", "=wifi", "eth0=", "eth0=fast", "eth0=wifi+fast"])
    func mistakes(entry: String) {
        let overrides = InterfaceOverrides(parsing: "\(entry), eth9=wifi")
        #expect(overrides.mistakes == [entry])
        #expect(overrides["eth0"] == .init())
        #expect(overrides["eth9"].type == .wifi)
    }
}
