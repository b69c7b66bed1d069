internal import CCausewayLinux

/// An epoll set with one descriptor. It is for callers that can wait only until a descriptor is readable. The set's own
/// descriptor is readable while any event is pending.
package struct EdgeWatch: ~Copyable, Sendable {
    private let epoll: Descriptor

    package init(_ fd: CInt, _ interest: Readiness) throws(SystemError) {
        let epoll = Descriptor(adopting: try check(cw_epoll_create(), "epoll_create1"))
        let status = cw_epoll_add(epoll.rawValue, fd, 0, interest.rawValue)
        guard status >= 0 else { throw SystemError(errno: -status, call: "epoll_ctl") }
        self.epoll = epoll
    }

    /// The epoll descriptor to wait on.
    package var descriptor: CInt { epoll.rawValue }

    /// Registers the descriptor again. epoll then reports the descriptor's current readiness as a new event.
    package borrowing func renew(_ fd: CInt, _ interest: Readiness) {
        _ = cw_epoll_modify(epoll.rawValue, fd, 0, interest.rawValue)
    }

    /// Returns the events since the previous call. Does not wait.
    package borrowing func fetch() -> Readiness {
        var event = cw_event()
        return cw_epoll_wait(epoll.rawValue, &event, 1, 0) > 0 ? Readiness(rawValue: event.readiness) : []
    }
}
