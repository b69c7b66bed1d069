import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Reports of network management programs")
struct InterfaceManagersTests {
    private static func properties(_ name: String, metered: UInt32, kind: UInt32 = 1) -> [String: DBusValue] {
        [
            "Interface": .string(name), "IpInterface": .string(""), "DeviceType": .uint32(kind),
            "Metered": .uint32(metered), "State": .uint32(100),
        ]
    }

    @Test(
        "NetworkManager's settings and its guess `metered` count, its guess `not metered` does not",
        arguments: [(0, nil), (1, true), (2, false), (3, true), (4, nil), (99, nil)] as [(UInt32, Bool?)])
    func metered(_ value: UInt32, _ expected: Bool?) {
        var bus = ScriptedBus()
        bus.devices = [1: Self.properties("eth0", metered: value)]
        bus.start()
        #expect(bus["eth0"] == .init(isMetered: expected))
        #expect(bus["eth1"] == .init())
    }

    @Test("Signals are subscribed first, and a name without an owner is not queried")
    func order() {
        var bus = ScriptedBus()
        bus.hasNetworkManager = false
        bus.start()
        #expect(bus.rules.count == 7)
        #expect(
            bus.calls == [
                "Hello DBus ", "GetNameOwner DBus org.freedesktop.NetworkManager",
                "GetNameOwner DBus org.freedesktop.ModemManager1",
            ])
        #expect(bus.machine.facts == InterfaceFacts() && bus.machine.end == nil)
    }

    @Test("A device changes, appears and disappears")
    func follows() {
        var bus = ScriptedBus()
        bus.devices = [1: Self.properties("eth0", metered: 4)]
        bus.start()
        bus.changed(device: 1, ["Metered": .uint32(1)])
        #expect(bus["eth0"].isMetered == true)
        bus.changed(device: 1, ["State": .uint32(30)])
        #expect(bus["eth0"].isMetered == true)
        // If a signal leaves out a property's new value, the machine queries the value.
        bus.devices[1] = Self.properties("eth0", metered: 2)
        bus.changed(device: 1, [:], gone: ["Metered"])
        #expect(bus["eth0"].isMetered == false)
        bus.devices[2] = Self.properties("wwp0s20", metered: 3)
        bus.device("DeviceAdded", 2)
        #expect(bus["wwp0s20"].isMetered == true)
        bus.device("DeviceRemoved", 2)
        #expect(bus["wwp0s20"].isMetered == nil)
        bus.changed(device: 2, ["Metered": .uint32(1), "Interface": .string("eth2")])
        #expect(bus["eth2"] == .init())
    }

    @Test("A device that does not answer does not block others")
    func refusal() {
        var bus = ScriptedBus()
        bus.devices = [1: [:], 2: Self.properties("eth0", metered: 1)]
        bus.start()
        #expect(bus["eth0"].isMetered == true)
    }

    @Test("A modem's data interface differs from its control interface")
    func modemDevice() {
        var bus = ScriptedBus()
        var properties = Self.properties("cdc-wdm0", metered: 3, kind: 8)
        properties["IpInterface"] = .string("wwan0")
        bus.devices = [1: properties]
        bus.start()
        #expect(bus["wwan0"] == .init(isMetered: true, isCellular: true))
    }

    @Test("When NetworkManager ends, its reports are dropped; the next one is queried")
    func restart() {
        var bus = ScriptedBus()
        bus.devices = [1: Self.properties("eth0", metered: 1)]
        bus.start()
        bus.moved("org.freedesktop.NetworkManager", from: ScriptedBus.networkManager, to: "")
        #expect(bus.machine.facts == InterfaceFacts())
        // A late signal from the process that has left the bus changes nothing.
        bus.changed(device: 1, ["Metered": .uint32(1)])
        #expect(bus.machine.facts == InterfaceFacts())
        bus.moved("org.freedesktop.NetworkManager", from: "", to: ":1.20")
        #expect(bus["eth0"].isMetered == true)
        bus.changed(device: 1, ["Metered": .uint32(2)], from: ":1.20")
        #expect(bus["eth0"].isMetered == false)
    }

    @Test("Signals of other programs on the bus are ignored")
    func impostor() {
        var bus = ScriptedBus()
        bus.devices = [1: Self.properties("eth0", metered: 2)]
        bus.start()
        bus.changed(device: 1, ["Metered": .uint32(1)], from: ":1.66")
        bus.signal(
            "NameOwnerChanged", "org.freedesktop.DBus", "/org/freedesktop/DBus", from: ":1.66",
            .string("org.freedesktop.NetworkManager"), .string(ScriptedBus.networkManager), .string(":1.66"))
        for serial in 1...20 as ClosedRange<UInt32> {
            bus.deliver(.answer, from: ":1.66") { message in
                message.replySerial = serial
                message.body = [ScriptedBus.dictionary(Self.properties("eth0", metered: 1))]
            }
        }
        #expect(bus["eth0"].isMetered == false)
    }

    @Test("Network ports of modems are cellular, as long as ModemManager lists the modem")
    func modems() {
        var bus = ScriptedBus()
        bus.modems = [ScriptedBus.modem: [("cdc-wdm0", 6), ("usb0", 2), ("ttyUSB0", 3)]]
        bus.start()
        #expect(bus["usb0"] == .init(isCellular: true))
        #expect(bus["ttyUSB0"] == .init() && bus["cdc-wdm0"] == .init())
        let (objects, manager) = ("org.freedesktop.DBus.ObjectManager", "/org/freedesktop/ModemManager1")
        bus.signal(
            "InterfacesRemoved", objects, manager, from: ScriptedBus.modemManager, .objectPath(ScriptedBus.modem),
            .array(.string, [.string("org.freedesktop.ModemManager1.Modem")]))
        #expect(bus.machine.facts == InterfaceFacts())
        bus.signal(
            "InterfacesAdded", objects, manager, from: ScriptedBus.modemManager, .objectPath(ScriptedBus.modem),
            ScriptedBus.interfaces([("wwan1", 2)]))
        #expect(bus["wwan1"].isCellular)
        bus.moved("org.freedesktop.ModemManager1", from: ScriptedBus.modemManager, to: "")
        #expect(bus.machine.facts == InterfaceFacts())
    }

    @Test("Invalid answers are ignored")
    func nonsense() {
        var bus = ScriptedBus()
        bus.devices = [1: ["Interface": .uint32(3), "Metered": .string("yes")]]
        bus.modems = [:]
        bus.start()
        bus.signal("DeviceAdded", "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", .uint32(1))
        bus.signal("PropertiesChanged", "org.freedesktop.DBus.Properties", ScriptedBus.device + "1", .string("x"))
        bus.signal(
            "InterfacesAdded", "org.freedesktop.DBus.ObjectManager", "/", from: ScriptedBus.modemManager,
            .objectPath("/"), .string(""))
        bus.moved("org.freedesktop.NetworkManager", from: "", to: "not unique")
        #expect(bus.machine.facts == InterfaceFacts() && bus.machine.end == nil)
    }

    @Test("The number of remembered device names is limited")
    func bounded() {
        var bus = ScriptedBus()
        bus.start()
        for number in 0..<2_000 {
            bus.devices[number] = Self.properties("eth\(number)", metered: 1)
            bus.device("DeviceAdded", number)
        }
        #expect(bus.machine.devices.count == InterfaceManagers.deviceLimit)
    }

    @Test(
        "A refused authentication is reported, and the client is inert",
        arguments: ["REJECTED EXTERNAL\r\n", String(repeating: "x", count: 2_000)])
    func rejected(_ answer: String) {
        var machine = InterfaceManagers(user: 0)
        #expect(machine.takeOutput() == [0] + Array("AUTH EXTERNAL 30\r\n".utf8))
        machine.receive(Array(answer.utf8))
        #expect(machine.end?.contains("authentication") == true)
        machine.receive(Array("OK 1\r\n".utf8))
        #expect(machine.takeOutput().isEmpty)
    }

    @Test("A bus that sends an invalid message is closed, with any fragmentation")
    func broken() {
        var conversation = BusConversation(user: 0)
        var pieces: [DBusMessage] = []
        var message = DBusMessage(.signal, serial: 9)
        message.body = [.string("a"), .bytes([1])]
        for byte in Array("OK 1\r\n".utf8) + message.encoded { pieces += conversation.receive([byte]) }
        #expect(pieces == [message] && conversation.end == nil)
        // The body is malformed, but its frame is valid. Only this message is dropped.
        var malformed = message.encoded
        malformed[malformed.count - 6] = 0xFF
        #expect(conversation.receive(malformed + message.encoded) == [message])
        #expect(conversation.receive(message.encoded + Array(repeating: 0, count: 16)) == [message])
        #expect(conversation.end?.contains("malformed D-Bus message") == true)
        #expect(conversation.receive(message.encoded).isEmpty)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var said = ""
        var interface = "eth0"
        var fact: InterfaceFacts.Entry
        var isExpensive: Bool
        var isCellular = false
        var testDescription: String { "\(said) \(interface) \(fact)" }
    }

    @Test(
        "The user's setting has priority over programs, and programs over the interface type",
        arguments: [
            Row(fact: .init(), isExpensive: false), Row(fact: .init(isMetered: true), isExpensive: true),
            Row(fact: .init(isMetered: false), isExpensive: false),
            Row(interface: "cell0", fact: .init(), isExpensive: true, isCellular: true),
            Row(interface: "cell0", fact: .init(isMetered: false), isExpensive: false, isCellular: true),
            Row(fact: .init(isCellular: true), isExpensive: true, isCellular: true),
            Row(fact: .init(isMetered: false, isCellular: true), isExpensive: false, isCellular: true),
            Row(said: "eth0=inexpensive", fact: .init(isMetered: true), isExpensive: false),
            Row(said: "eth0=expensive", fact: .init(isMetered: false), isExpensive: true),
            Row(said: "eth0=ethernet", fact: .init(isCellular: true), isExpensive: false),
            Row(
                said: "cell0=cellular", interface: "cell0", fact: .init(isMetered: false), isExpensive: true,
                isCellular: true),
        ])
    func precedence(_ row: Row) throws {
        var scene = NetworkScene()
        scene.add(row.interface, "192.0.2.1/24")
        scene.overrides = row.said
        scene.facts[row.interface] = row.fact
        let found = try #require(scene.model.interfaces.first { $0.link.name == row.interface })
        #expect(found.isExpensive == row.isExpensive)
        #expect((found.interface.type == .cellular) == row.isCellular)
    }
}
