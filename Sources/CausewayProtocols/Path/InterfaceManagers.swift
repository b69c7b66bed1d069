internal import CausewayWire

/// Tracks interface properties that NetworkManager and ModemManager publish on the D-Bus system bus.
///
/// This type does no I/O. Its owner passes bytes in both directions, and reads ``facts`` after each ``receive(_:)``
/// call.
///
/// The requests do not start these services. The bus reports when a service starts, stops or is replaced.
///
/// A message is accepted only from the process that currently owns the service's bus name, because any program on the
/// bus can send messages.
package struct InterfaceManagers: BusClient, ~Copyable {
    /// A service and its well-known bus name.
    enum Manager: String, CaseIterable, Sendable {
        case network = "org.freedesktop.NetworkManager"
        case modem = "org.freedesktop.ModemManager1"

        var path: String { "/" + rawValue.split(separator: ".").joined(separator: "/") }
    }

    /// A request that is waiting for its reply.
    enum Question: Equatable, Sendable {
        case holder(of: Manager)
        /// The list of NetworkManager's devices.
        case devices
        /// The properties of one network device.
        case device(String)
        /// All objects that ModemManager publishes.
        case modems
    }

    static let bus = "org.freedesktop.DBus"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objects = "org.freedesktop.DBus.ObjectManager"
    static let deviceInterface = "org.freedesktop.NetworkManager.Device"
    static let modemInterface = "org.freedesktop.ModemManager1.Modem"
    /// The maximum number of devices to store. The same limit applies to modems.
    static let deviceLimit = 1_024

    private var conversation: BusConversation
    /// The pending requests by serial number. Each request has the bus name of the process that must send the reply.
    private var questions: [UInt32: (question: Question, addressee: String)] = [:]
    /// Each service's current owner, as a unique bus name. The bus never assigns a unique name twice.
    private var holders: [Manager: String] = [:]
    /// The devices by D-Bus object path. A value is `nil` until the device's properties have arrived.
    var devices: [String: Device?] = [:]
    /// The names of each modem's network ports, by the modem's object path.
    var modems: [String: [String]] = [:]

    /// - Parameter user: The process's user ID.
    package init(user: UInt32) {
        conversation = BusConversation(user: user)
        var hello = DBusMessage(.call, serial: 0)
        (hello.path, hello.interface, hello.member) = ("/org/freedesktop/DBus", Self.bus, "Hello")
        hello.destination = Self.bus
        conversation.send(hello)
        // Subscribe to changes before the first request. Otherwise a change between the request and the subscription
        // would be missed.
        for rule in Self.rules { askBus("AddMatch", rule, flags: 1) }
        for manager in Manager.allCases { ask(.holder(of: manager)) }
    }

    /// Why the conversation ended; `nil` while it is open.
    package var end: String? { conversation.end }

    /// Returns the bytes to send and clears the buffer.
    package mutating func takeOutput() -> [UInt8] { conversation.takeOutput() }

    /// Processes bytes from the bus. A message may arrive in several pieces.
    package mutating func receive(_ bytes: [UInt8]) {
        for message in conversation.receive(bytes) { adopt(message) }
    }

    package var status: InterfaceFacts { facts }

    /// The information from all messages received so far.
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

    /// The D-Bus match rules for the signals to receive. The rules leave out signal strength and counters, which change
    /// very often.
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

    // MARK: Requests

    func awaits(_ question: Question) -> Bool { questions.values.contains { $0.question == question } }

    mutating func ask(_ question: Question) {
        // Limit the number of D-Bus requests that wait for a reply, because a service may never reply.
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

    /// Sends a request to the process that currently provides the D-Bus service. The destination is its unique bus
    /// name, so that a later provider does not receive the request.
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

    // MARK: Replies and signals

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

    /// - Parameter answer: The values in the reply. It is empty after an error reply. Such an error means that the bus
    ///   name has no owner, or that the device was removed.
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

    /// Stores a service's new owner, and deletes the previous owner's data. If the new owner is `nil`, the service has
    /// none.
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
