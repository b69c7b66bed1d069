internal import CausewayWire

extension InterfaceManagers {
    /// The port type for network interfaces (`MM_MODEM_PORT_TYPE_NET`).
    private static let networkPort: UInt32 = 2
    private static let portLimit = 16

    mutating func listed(modems list: DBusValue?) {
        modems = [:]
        for case .entry(let path, let interfaces) in list?.elements ?? [] {
            if let path = path.text { added(modem: path, interfaces.dictionary) }
        }
    }

    mutating func modemManagerSaid(_ message: DBusMessage) {
        guard message.interface == Self.objects, message.body.count == 2, let path = message.body[0].text else {
            return
        }
        switch message.member {
        case "InterfacesAdded": added(modem: path, message.body[1].dictionary)
        case "InterfacesRemoved":
            if message.body[1].elements.contains(where: { $0.text == Self.modemInterface }) { modems[path] = nil }
        default: break
        }
    }

    /// Stores the network ports of a new modem. Storing them once is enough: ModemManager knows the ports before it
    /// announces the modem, and they do not change later.
    private mutating func added(modem path: String, _ interfaces: [String: DBusValue]) {
        guard let modem = interfaces[Self.modemInterface]?.dictionary,
            modems[path] != nil || modems.count < Self.deviceLimit
        else { return }
        guard case .variant(let ports)? = modem["Ports"] else { return }
        let names = ports.elements.compactMap { port in
            port.fields.count == 2 && port.fields[1].uint32 == Self.networkPort ? port.fields[0].text : nil
        }
        modems[path] = Array(names.prefix(Self.portLimit))
    }
}
