import CausewayWire

@testable import CausewayProtocols

/// A scripted message bus with network management programs.
struct ScriptedBus: ~Copyable {
    static let networkManager = ":1.4"
    static let modemManager = ":1.9"
    static let device = "/org/freedesktop/NetworkManager/Devices/"
    static let modem = "/org/freedesktop/ModemManager1/Modem/0"

    var machine = InterfaceManagers(user: 1_000)
    /// The properties of each device as NetworkManager reports them, by device number. A query for a device without
    /// properties returns an error.
    var devices: [Int: [String: DBusValue]] = [:]
    /// The modems that ModemManager reports: each modem's ports and port kinds, by the modem's path. `nil` if
    /// ModemManager does not run.
    var modems: [String: [(String, UInt32)]]?
    var hasNetworkManager = true
    /// The method calls that the client has made so far. Calls that add or remove match rules are not included.
    private(set) var calls: [String] = []
    private(set) var rules: [String] = []
    private var heard: [UInt8] = []
    private var serial: UInt32 = 0

    /// Authenticates the D-Bus client, and answers its calls until it makes no more calls.
    mutating func start() {
        let greeting = machine.takeOutput()
        precondition(greeting == [0] + Array("AUTH EXTERNAL 31303030\r\n".utf8))
        machine.receive(Array("OK 0123456789abcdef\r\n".utf8))
        var output = machine.takeOutput()
        precondition(output.starts(with: Array("BEGIN\r\n".utf8)))
        output.removeFirst(7)
        heard = output
        run()
    }

    mutating func run() {
        heard += machine.takeOutput()
        while let count = (try? DBusMessage.byteCount(of: heard.span)) ?? nil, count <= heard.count {
            let call = try? DBusMessage(parsing: heard.span.extracting(..<count))
            heard.removeFirst(count)
            if let call { answer(call) }
            heard += machine.takeOutput()
        }
    }

    /// What the network managers report about an interface.
    subscript(name: String) -> InterfaceFacts.Entry { machine.facts[name] }

    mutating func deliver(_ kind: DBusMessage.Kind, from sender: String, _ change: (inout DBusMessage) -> Void) {
        serial += 1
        var message = DBusMessage(kind, serial: serial)
        message.sender = sender
        change(&message)
        machine.receive(message.encoded)
    }

    mutating func signal(
        _ member: String, _ interface: String, _ path: String, from sender: String = networkManager,
        _ body: DBusValue...
    ) {
        deliver(.signal, from: sender) { message in
            (message.path, message.interface, message.member) = (path, interface, member)
            message.body = body
        }
        run()
    }

    mutating func changed(
        device number: Int, _ properties: [String: DBusValue], gone: [String] = [], from sender: String = networkManager
    ) {
        signal(
            "PropertiesChanged", "org.freedesktop.DBus.Properties", Self.device + "\(number)", from: sender,
            .string("org.freedesktop.NetworkManager.Device"), Self.dictionary(properties),
            .array(.string, gone.map { .string($0) }))
    }

    mutating func moved(_ name: String, from old: String, to new: String) {
        signal(
            "NameOwnerChanged", "org.freedesktop.DBus", "/org/freedesktop/DBus", from: "org.freedesktop.DBus",
            .string(name), .string(old), .string(new))
    }

    mutating func device(_ member: String, _ number: Int) {
        signal(
            member, "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
            .objectPath(Self.device + "\(number)"))
    }

    static func dictionary(_ content: [String: DBusValue]) -> DBusValue {
        .array(
            .entry(key: .string, value: .variant),
            content.sorted { $0.key < $1.key }.map { .entry(key: .string($0.key), value: .variant($0.value)) })
    }

    static func interfaces(_ ports: [(String, UInt32)]) -> DBusValue {
        let list = DBusValue.array(
            .structure([.string, .uint32]), ports.map { .structure([.string($0.0), .uint32($0.1)]) })
        let modem = DBusValue.entry(
            key: .string("org.freedesktop.ModemManager1.Modem"), value: dictionary(["Ports": list]))
        return .array(.entry(key: .string, value: .array(.entry(key: .string, value: .variant))), [modem])
    }

    private mutating func answer(_ call: DBusMessage) {
        let argument = call.body.first?.text ?? ""
        if call.member == "AddMatch" { return rules.append(argument) }
        calls.append("\(call.member ?? "") \(call.path?.split(separator: "/").last ?? "") \(argument)")
        let result = result(of: call, argument)
        deliver(result == nil ? .error : .answer, from: call.destination ?? "") { message in
            message.replySerial = call.serial
            if let result { message.body = [result] } else { message.errorName = "org.freedesktop.DBus.Error.Failed" }
        }
    }

    private func result(of call: DBusMessage, _ argument: String) -> DBusValue? {
        switch (call.destination, call.member, argument) {
        case (_, "Hello", _): return .string(":1.77")
        case (_, "GetNameOwner", "org.freedesktop.NetworkManager"):
            return hasNetworkManager ? .string(Self.networkManager) : nil
        case (_, "GetNameOwner", _): return modems == nil ? nil : .string(Self.modemManager)
        case (_, "Get", _):
            return .variant(.array(.objectPath, devices.keys.sorted().map { .objectPath(Self.device + "\($0)") }))
        case (_, "GetAll", _):
            let number = call.path.flatMap { Int($0.dropFirst(Self.device.count)) } ?? -1
            return devices[number].flatMap { $0.isEmpty ? nil : Self.dictionary($0) }
        case (_, "GetManagedObjects", _):
            let content = Self.interfaces([]).type
            return .array(
                .entry(key: .objectPath, value: content),
                (modems ?? [:]).map { .entry(key: .objectPath($0.key), value: Self.interfaces($0.value)) })
        default: return nil
        }
    }
}
