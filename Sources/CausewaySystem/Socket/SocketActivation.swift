internal import CausewayTypes

/// Listening sockets from the service manager (systemd's `sd_listen_fds(3)` protocol).
package enum SocketActivation {
    /// The number of the first socket that the service manager passes.
    private static let firstDescriptor: CInt = 3
    private static let taken = LockedValue<Set<CInt>>([])

    /// The environment variables `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
    package struct Environment: Sendable {
        package var process: String?
        package var count: String?
        package var names: String?

        package init(process: String?, count: String?, names: String?) {
            self.process = process
            self.count = count
            self.names = names
        }

        static var current: Environment {
            func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
            return Environment(
                process: value("LISTEN_PID"), count: value("LISTEN_FDS"), names: value("LISTEN_FDNAMES"))
        }
    }

    /// Takes ownership of the socket with the given name. Returns `nil` if this process was passed no such socket, or
    /// if an earlier call has returned it.
    package static func takeDescriptor(named name: String) -> Descriptor? {
        guard let number = number(named: name, in: .current, process: getpid()) else { return nil }
        guard taken.withLock({ taken in taken.insert(number).inserted }) else { return nil }
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else {
            return nil
        }
        return Descriptor(adopting: number)
    }

    /// Returns the descriptor number of the socket with this name; `nil` if `LISTEN_PID` is not this process, or if no
    /// socket has the name.
    package static func number(named name: String, in environment: Environment, process: CInt) -> CInt? {
        guard environment.process.flatMap({ CInt(digits: $0) }) == process else { return nil }
        guard let count = environment.count.flatMap({ CInt(digits: $0) }), (1...1_024).contains(count) else {
            return nil
        }
        let names = (environment.names ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard let index = names.firstIndex(where: { $0 == name }), index < count else { return nil }
        return firstDescriptor + CInt(index)
    }
}
