internal import CausewayWire

/// The socket of the system's message bus.
package enum SystemBus {
    /// Connects to it: where the environment says, else where it usually is.
    ///
    /// - Returns: `nil` when nobody listens there, or so many wait to be let in that this would have to wait too.
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
