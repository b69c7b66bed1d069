package import CausewayWire

/// The system message bus (D-Bus).
package enum SystemBus {
    /// Connects to the bus at the address in the environment, or at the default address.
    ///
    /// - Returns: `nil` if no bus listens at this address, or if connecting would block.
    package static func connect() -> Descriptor? {
        connect(to: getenv(DBusAddress.variable).map { DBusAddress.list(String(cString: $0)) } ?? [.system])
    }

    fileprivate static func connect(to addresses: [DBusAddress]) -> Descriptor? {
        for address in addresses {
            guard let socket = try? Socket.open(.unix, .stream) else { return nil }
            if (try? Socket.connect(socket.rawValue, to: SocketAddress(address))) == true { return socket }
        }
        return nil
    }
}

/// The user's session message bus (D-Bus).
package enum SessionBus {
    /// Returns the bus addresses in the environment variable `DBUS_SESSION_BUS_ADDRESS`. If this variable is not set,
    /// returns the path of the socket in the user's runtime directory (`XDG_RUNTIME_DIR`). Does not start a bus.
    package static func addresses(in environment: [String: String]) -> [DBusAddress] {
        if let text = environment[DBusAddress.sessionVariable] { return DBusAddress.list(text) }
        return environment["XDG_RUNTIME_DIR"].map { [.path($0 + "/bus")] } ?? []
    }

    /// Passes bytes between a client and the bus until the client is done. Blocks.
    ///
    /// - Parameters:
    ///   - addresses: The addresses at which the bus may listen.
    ///   - deadline: The time at which to give up, on the clock of ``System/now``.
    ///   - output: Returns the client's next bytes to send.
    ///   - input: Receives bytes from the bus. Returns `true` if the client expects more bytes.
    /// - Returns: Whether the client is done; `false` if there is no bus, if the bus closes the connection, or if the
    ///   deadline passes.
    package static func converse(
        _ addresses: [DBusAddress], until deadline: Duration, _ output: () -> [UInt8], _ input: ([UInt8]) -> Bool
    ) -> Bool {
        guard let socket = SystemBus.connect(to: addresses) else { return false }
        var unsent: ArraySlice<UInt8> = []
        while true {
            unsent += output()
            while !unsent.isEmpty {
                guard case .moved(let count) = unsent.withUnsafeBytes({ Socket.send(socket.rawValue, $0) }) else {
                    break
                }
                unsent.removeFirst(count)
            }
            guard wait(for: socket, writes: !unsent.isEmpty, until: deadline) else { return false }
            var block = [UInt8](repeating: 0, count: 16_384)
            switch block.withUnsafeMutableBytes({ Socket.receive(socket.rawValue, into: $0) }) {
            case .moved(let count) where count > 0: if !input(Array(block.prefix(count))) { return true }
            case .wouldBlock: break
            default: return false
            }
        }
    }

    /// Waits until the socket is ready or the deadline passes. Returns `false` if the wait fails, or if the deadline
    /// had already passed before the call.
    ///
    /// If the deadline passes during the wait, this call still returns `true`. Only the next call returns `false`.
    private static func wait(for socket: borrowing Descriptor, writes: Bool, until deadline: Duration) -> Bool {
        let remaining = deadline - System.now
        guard remaining > .zero else { return false }
        var entry = pollfd(
            fd: socket.rawValue, events: Int16(POLLIN) | (writes ? Int16(POLLOUT) : 0), revents: 0)
        let milliseconds =
            remaining.components.seconds * 1_000 + remaining.components.attoseconds / 1_000_000_000_000_000
        return poll(&entry, 1, CInt(clamping: milliseconds + 1)) >= 0 || errno == EINTR
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
