internal import CausewayWire

/// Follows what NetworkManager and ModemManager say about interfaces, over the system's message bus.
///
/// It does no I/O: its owner carries bytes both ways, and looks at ``facts`` after each arrival. Neither program is started by
/// being asked; when one comes, goes or is replaced, the bus says so. Only the program that holds the name is believed:
/// anybody on the bus may send anything to anybody.
package struct InterfaceManagers: BusClient, ~Copyable {
    /// A name on the bus that somebody may hold.
    enum Manager: String, CaseIterable, Sendable {
        case network = "org.freedesktop.NetworkManager"
        case modem = "org.freedesktop.ModemManager1"

        var path: String { "/" + rawValue.split(separator: ".").joined(separator: "/") }
    }

    /// What was asked.
    enum Question: Equatable, Sendable {
        case holder(of: Manager)
        /// Which devices NetworkManager has.
        case devices
        /// What it says about one of them.
        case device(String)
        /// Everything that ModemManager has.
        case modems
    }

    static let bus = "org.freedesktop.DBus"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objects = "org.freedesktop.DBus.ObjectManager"
    static let deviceInterface = "org.freedesktop.NetworkManager.Device"
    static let modemInterface = "org.freedesktop.ModemManager1.Modem"
    /// The most devices, and the most modems, that are remembered.
    static let deviceLimit = 1_024

    private var conversation: BusConversation
    /// By the serial of the call, with who has to answer.
    private var questions: [UInt32: (question: Question, addressee: String)] = [:]
    /// Who holds each name: the address on the bus that nobody else ever gets.
    private var holders: [Manager: String] = [:]
    /// By path. Without a value where the answer is still to come.
    var devices: [String: Device?] = [:]
    /// The names of each modem's network ports, by path.
    var modems: [String: [String]] = [:]

    /// - Parameter user: Whose rights the process has.
    package init(user: UInt32) {
        conversation = BusConversation(user: user)
        var hello = DBusMessage(.call, serial: 0)
        (hello.path, hello.interface, hello.member) = ("/org/freedesktop/DBus", Self.bus, "Hello")
        hello.destination = Self.bus
        conversation.send(hello)
        // First to be told, then to ask: nothing is missed in between.
        for rule in Self.rules { askBus("AddMatch", rule, flags: 1) }
        for manager in Manager.allCases { ask(.holder(of: manager)) }
    }

    /// Why nothing will be heard any more; `nil` while something may.
    package var end: String? { conversation.end }

    /// What is to be sent, once.
    package mutating func takeOutput() -> [UInt8] { conversation.takeOutput() }

    /// Takes what came from the bus, in whatever pieces.
    package mutating func receive(_ bytes: [UInt8]) {
        for message in conversation.receive(bytes) { adopt(message) }
    }

    package var news: InterfaceFacts { facts }

    /// What is said now.
    package var facts: InterfaceFacts {
        var facts = InterfaceFacts()
        for case let device? in devices.values {
            for name in device.names {
                facts[name].isMetered = facts[name].isMetered == true ? true : device.isMetered ?? facts[name].isMetered
                if device.isModem { facts[name].isCellular = true }
            }
        }
        for name in modems.values.joined() { facts[name].isCellular = true }
        return facts
    }

    /// Which signals to send here. Those of signal strength and of counters, which come again and again, are not among them.
    private static var rules: [String] {
        let (network, modem) = (Manager.network, Manager.modem)
        let managed = ["InterfacesAdded", "InterfacesRemoved"].map {
            "type='signal',sender='\(modem.rawValue)',path='\(modem.path)',interface='\(objects)',member='\($0)'"
        }
        return Manager.allCases.map {
            "type='signal',sender='\(bus)',interface='\(bus)',member='NameOwnerChanged',arg0='\($0.rawValue)'"
        }
            + ["DeviceAdded", "DeviceRemoved"].map {
                "type='signal',sender='\(network.rawValue)',path='\(network.path)',interface='\(network.rawValue)',member='\($0)'"
            } + [
                "type='signal',sender='\(network.rawValue)',path_namespace='\(network.path)/Devices',"
                    + "interface='\(properties)',member='PropertiesChanged',arg0='\(deviceInterface)'"
            ] + managed
    }

    // MARK: Asking

    func awaits(_ question: Question) -> Bool { questions.values.contains { $0.question == question } }

    mutating func ask(_ question: Question) {
        // Somebody who never answers is not asked for ever.
        guard questions.count < 2 * Self.deviceLimit else { return }
        let serial: UInt32?
        let addressee: String
        switch question {
        case .holder(let manager):
            addressee = Self.bus
            serial = askBus("GetNameOwner", manager.rawValue)
        case .devices:
            addressee = holders[.network] ?? ""
            serial = ask(.network, Manager.network.path, Self.properties, "Get", Manager.network.rawValue, "Devices")
        case .device(let path):
            addressee = holders[.network] ?? ""
            serial = ask(.network, path, Self.properties, "GetAll", Self.deviceInterface)
        case .modems:
            addressee = holders[.modem] ?? ""
            serial = ask(.modem, Manager.modem.path, Self.objects, "GetManagedObjects")
        }
        if let serial { questions[serial] = (question, addressee) }
    }

    @discardableResult
    private mutating func askBus(_ member: String, _ argument: String, flags: UInt8 = 0) -> UInt32 {
        var call = DBusMessage(.call, serial: 0)
        (call.path, call.interface, call.member) = ("/org/freedesktop/DBus", Self.bus, member)
        (call.destination, call.flags) = (Self.bus, flags)
        call.body = [.string(argument)]
        return conversation.send(call)
    }

    /// Asks whoever holds the name now, and nobody who takes it later.
    private mutating func ask(
        _ manager: Manager, _ path: String, _ interface: String, _ member: String, _ arguments: String...
    ) -> UInt32? {
        guard let holder = holders[manager] else { return nil }
        var call = DBusMessage(.call, serial: 0)
        (call.path, call.interface, call.member) = (path, interface, member)
        (call.destination, call.flags) = (holder, DBusMessage.noAutoStart)
        call.body = arguments.map { .string($0) }
        return conversation.send(call)
    }

    // MARK: Hearing

    private mutating func adopt(_ message: DBusMessage) {
        switch message.kind {
        case .answer, .error:
            guard let serial = message.replySerial, let asked = questions[serial], asked.addressee == message.sender
            else { return }
            questions[serial] = nil
            adopt(message.kind == .answer ? message.body : [], to: asked.question)
        case .signal: adoptSignal(message)
        default: break
        }
    }

    /// - Parameter answer: Empty where the question was refused: the name has no holder, or the device has gone.
    private mutating func adopt(_ answer: [DBusValue], to question: Question) {
        switch question {
        case .holder(let manager): held(manager, by: answer.first?.text)
        case .devices: listed(devices: answer.first)
        case .device(let path): described(path, answer.first)
        case .modems: listed(modems: answer.first)
        }
    }

    private mutating func adoptSignal(_ message: DBusMessage) {
        guard let sender = message.sender else { return }
        if sender == Self.bus {
            guard message.member == "NameOwnerChanged", message.body.count == 3,
                let manager = message.body[0].text.flatMap({ Manager(rawValue: $0) })
            else { return }
            held(manager, by: message.body[2].text)
        } else if sender == holders[.network] {
            networkManagerSaid(message)
        } else if sender == holders[.modem] {
            modemManagerSaid(message)
        }
    }

    /// Somebody holds the name now, or nobody. What its last holder said is forgotten.
    private mutating func held(_ manager: Manager, by holder: String?) {
        let holder = holder.flatMap { $0.hasPrefix(":") ? $0 : nil }
        guard holders[manager] != holder else { return }
        if let last = holders[manager] {
            questions = questions.filter { $0.value.addressee != last }
        }
        holders[manager] = holder
        switch manager {
        case .network:
            devices = [:]
            if holder != nil { ask(.devices) }
        case .modem:
            modems = [:]
            if holder != nil { ask(.modems) }
        }
    }
}
