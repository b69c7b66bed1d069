internal import CausewayWire

extension InterfaceManagers {
    /// The properties of one network device, as NetworkManager reports them.
    struct Device: Equatable, Sendable {
        /// The name of the control device, and the name of the interface that carries packets. A modem's control device
        /// is not a kernel interface.
        private var control = ""
        private var carrier = ""
        private var kind: UInt32 = 0
        private var metered: UInt32 = 0

        /// Updates the given properties; all others keep their values.
        mutating func adopt(_ properties: [String: DBusValue]) {
            control = properties["Interface"]?.text ?? control
            carrier = properties["IpInterface"]?.text ?? carrier
            kind = properties["DeviceType"]?.uint32 ?? kind
            metered = properties["Metered"]?.uint32 ?? metered
        }

        static let properties: Set<String> = ["Interface", "IpInterface", "DeviceType", "Metered"]

        var names: Set<String> { Set([control, carrier].filter { !$0.isEmpty }) }
        /// Whether the device is a modem (`NM_DEVICE_TYPE_MODEM`).
        var isModem: Bool { kind == 8 }

        /// Whether the device's connection is metered, as NetworkManager's property `Metered` states. The user sets the
        /// property, or NetworkManager guesses it from the device type and the router. The guess "not metered" is
        /// ignored: every device that looks like Ethernet gets this guess. So it adds nothing to the kernel's
        /// information.
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

    /// Stores a device's properties when the reply arrives.
    mutating func described(_ path: String, _ properties: DBusValue?) {
        // The device may have been removed while the reply with its properties was pending.
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
        // Ignore the change if the request for the properties is still pending. The reply will contain all properties.
        guard case .some(.some(var device)) = devices[path] else { return }
        device.adopt(properties)
        devices[path] = .some(device)
        // Ask for the properties again. The signal reports only that a property has changed, and not its new value.
        if !Device.properties.isDisjoint(with: gone), !awaits(.device(path)) { ask(.device(path)) }
    }
}
