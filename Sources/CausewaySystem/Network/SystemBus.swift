internal import CausewayWire

/// The socket of the system message bus (D-Bus).
package enum SystemBus {
    /// Connects to the address in the environment, or to the default address.
    ///
    /// - Returns: `nil` if no bus listens at this address, or if connecting would block.
    package static func connect() -> Descriptor? {
        let text = getenv(DBusAddress.variable).map { String(cString: $0) }
        for address in text.map(DBusAddress.list) ?? [.system] {
            guard let socket = try? Socket.open(.unix, .stream) else { return nil }
            if (try? Socket.connect(socket.rawValue, to: SocketAddress(address))) == true { return socket }
        }
        return nil
    }
}

extension SocketAddress {
    fileprivate init(_ address: DBusAddress) {
        switch address {
        case .path(let path): self = .unix(path: path)
        case .abstract(let name): self = .unix(path: "\0" + name)
        }
    }
}
