import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayRuntime

@Suite("The interfaces of a group")
struct GroupInterfacesTests {
    private static let ethernet = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
    private static let wifi = NWInterface(name: "wlan0", index: 3, type: .wifi)
    private static let modem = NWInterface(name: "usb0", index: 4, type: .other)
    private static let all = [ethernet, wifi, modem]

    private static func link(_ interface: NWInterface) -> NetlinkLink {
        var link = NetlinkLink(index: interface.index, hardwareType: 1, flags: [.up, .running, .multicast])
        link.name = interface.name
        return link
    }

    private static let snapshot = NetworkSnapshot(
        interfaces: all.map { NetworkSnapshot.Interface(interface: $0, link: link($0)) })

    /// Returns a network model in which one interface is constrained, one is metered and one is cellular.
    private static func model(_ interfaces: [NWInterface] = all) -> NetworkModel {
        var facts = InterfaceFacts()
        facts["wlan0"] = InterfaceFacts.Entry(isMetered: true)
        facts["usb0"] = InterfaceFacts.Entry(isCellular: true)
        return NetworkModel(
            NetlinkState(links: interfaces.map { link($0) }), facts: facts,
            overrides: InterfaceOverrides(parsing: "eth0=constrained")
        ) { link in all.first { $0.index == link.index } }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: [Int]
        let change: @Sendable (inout SocketSettings) -> Void
    }

    static let rows = [
        Row(testDescription: "expensive", expected: [2]) { $0.prohibitsExpensive = true },
        Row(testDescription: "constrained", expected: [3, 4]) { $0.prohibitsConstrained = true },
        Row(testDescription: "type", expected: [2, 3]) { $0.prohibitedInterfaceTypes = [.cellular] },
        Row(testDescription: "required type", expected: [4]) { $0.requiredInterfaceType = .cellular },
        Row(testDescription: "interface", expected: [2, 4]) { $0.prohibitedInterfaces = [wifi] },
        // An interface that was removed and created again has another index.
        Row(testDescription: "interface with another index", expected: [2, 4]) {
            $0.prohibitedInterfaces = [NWInterface(name: "wlan0", index: 9, type: .wifi)]
        },
    ]

    @Test("A group uses only interfaces that its parameters permit", arguments: rows)
    func prohibitions(_ row: Row) {
        var settings = SocketSettings(transport: .udp)
        row.change(&settings)
        let interfaces = GroupInterfaces(Self.snapshot, Self.model(), for: settings)
        #expect(interfaces.candidates.map(\.index) == row.expected)
        #expect(interfaces.permitted == Set(row.expected))
    }

    @Test("A group without prohibitions needs no model, and uses all interfaces")
    func unrestricted() {
        var settings = SocketSettings(transport: .udp)
        settings.allowsUltraConstrained = true
        let interfaces = GroupInterfaces(Self.snapshot, for: settings)
        #expect(interfaces.candidates.map(\.index) == [2, 3, 4] && interfaces.permitted == nil)
    }

    @Test("An interface that the model does not know yet is not used")
    func unknown() {
        var settings = SocketSettings(transport: .udp)
        settings.prohibitsConstrained = true
        let interfaces = GroupInterfaces(Self.snapshot, Self.model([Self.wifi]), for: settings)
        #expect(interfaces.candidates.map(\.index) == [3] && interfaces.permitted == [3])
    }
}
