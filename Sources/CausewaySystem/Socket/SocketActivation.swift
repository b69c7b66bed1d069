internal import CausewayTypes

/// Listening sockets from the service manager (systemd's `sd_listen_fds(3)` protocol).
package enum SocketActivation {
    /// The descriptor number of the first socket that the service manager passes. The other sockets have the next
    /// numbers.
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

    /// Returns the sockets with the given name and kind, which the caller must close. All sockets of a unit have the
    /// same name.
    ///
    /// - Returns: None if this process was passed no such socket, or if an earlier call has returned them.
    package static func takeDescriptors(named name: String, _ kind: Socket.Kind) -> [CInt] {
        numbers(named: name, in: .current, process: getpid()).filter { number in
            guard Socket.kind(of: number) == kind, taken.withLock({ taken in taken.insert(number).inserted }) else {
                return false
            }
            let flags = fcntl(number, F_GETFL)
            return flags >= 0 && fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0
                && fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        }
    }

    /// Returns the descriptor numbers of the sockets with this name; none if `LISTEN_PID` is not this process, or if no
    /// socket has the name.
    package static func numbers(named name: String, in environment: Environment, process: CInt) -> [CInt] {
        guard environment.process.flatMap({ CInt(digits: $0) }) == process else { return [] }
        guard let count = environment.count.flatMap({ CInt(digits: $0) }), (1...1_024).contains(count) else {
            return []
        }
        let names = (environment.names ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return names.prefix(Int(count)).enumerated().filter { $0.element == name }
            .map { firstDescriptor + CInt($0.offset) }
    }
}
