internal import CausewayWire

extension InterfaceManagers {
    /// What NetworkManager says about one of its devices.
    struct Device: Equatable, Sendable {
        /// The device, which for a modem is no interface of the kernel, and the interface that packets pass.
        private var control = ""
        private var carrier = ""
        private var kind: UInt32 = 0
        private var metered: UInt32 = 0

        /// Properties by name; others stay as they are.
        mutating func adopt(_ properties: [String: DBusValue]) {
            control = properties["Interface"]?.text ?? control
            carrier = properties["IpInterface"]?.text ?? carrier
            kind = properties["DeviceType"]?.uint32 ?? kind
            metered = properties["Metered"]?.uint32 ?? metered
        }

        static let properties: Set<String> = ["Interface", "IpInterface", "DeviceType", "Metered"]

        var names: Set<String> { Set([control, carrier].filter { !$0.isEmpty }) }
        /// NM_DEVICE_TYPE_MODEM.
        var isModem: Bool { kind == 8 }

        /// NMMetered: somebody's word, or a guess from the kind of device and from what its router says. Its guess that nothing is
        /// metered says no more than the kernel does: it is made of every device that looks like Ethernet.
        var isMetered: Bool? {
            switch metered {
            case 1, 3: true
            case 2: false
            default: nil
            }
        }
    }

    mutating func listed(devices list: DBusValue?) {
        guard case .variant(let list)? = list else { return }
        let paths = Set(list.elements.compactMap(\.text))
        devices = devices.filter { paths.contains($0.key) }
        for path in paths.sorted() { added(device: path) }
    }

    /// The answer about a device.
    mutating func described(_ path: String, _ properties: DBusValue?) {
        // It may be gone since it was asked for.
        guard devices[path] != nil, let properties else { return }
        var device = Device()
        device.adopt(properties.dictionary)
        devices[path] = .some(device)
    }

    mutating func networkManagerSaid(_ message: DBusMessage) {
        switch (message.interface, message.member) {
        case (Manager.network.rawValue, "DeviceAdded"):
            if let path = message.body.first?.text { added(device: path) }
        case (Manager.network.rawValue, "DeviceRemoved"):
            if let path = message.body.first?.text { devices[path] = nil }
        case (Self.properties, "PropertiesChanged"):
            guard message.body.count == 3, message.body[0].text == Self.deviceInterface, let path = message.path
            else { return }
            changed(path, message.body[1].dictionary, gone: message.body[2].elements.compactMap(\.text))
        default: break
        }
    }

    private mutating func added(device path: String) {
        guard DBusValue.isObjectPath(path), devices[path] == nil, devices.count < Self.deviceLimit else { return }
        devices[path] = .some(nil)
        ask(.device(path))
    }

    private mutating func changed(_ path: String, _ properties: [String: DBusValue], gone: [String]) {
        // One that is being asked about answers with everything.
        guard case .some(.some(var device)) = devices[path] else { return }
        device.adopt(properties)
        devices[path] = .some(device)
        // Changed, and to what is not said.
        if !Device.properties.isDisjoint(with: gone), !awaits(.device(path)) { ask(.device(path)) }
    }
}
