internal import CCausewayLinux

/// An epoll set of one descriptor, for whoever can only wait for a descriptor to become readable: the set is readable while
/// there is an edge to fetch, whatever kind of edge it is.
package struct EdgeWatch: ~Copyable, Sendable {
    private let epoll: Descriptor

    package init(_ fd: CInt, _ interest: Readiness) throws(SystemError) {
        let epoll = Descriptor(adopting: try check(cw_epoll_create(), "epoll_create1"))
        let status = cw_epoll_add(epoll.rawValue, fd, 0, interest.rawValue)
        guard status >= 0 else { throw SystemError(errno: -status, call: "epoll_ctl") }
        self.epoll = epoll
    }

    /// What to wait on.
    package var descriptor: CInt { epoll.rawValue }

    /// Makes what is ready at this moment an edge again.
    package borrowing func renew(_ fd: CInt, _ interest: Readiness) {
        _ = cw_epoll_modify(epoll.rawValue, fd, 0, interest.rawValue)
    }

    /// What has become ready since the last call. It does not wait.
    package borrowing func fetch() -> Readiness {
        var event = cw_event()
        return cw_epoll_wait(epoll.rawValue, &event, 1, 0) > 0 ? Readiness(rawValue: event.readiness) : []
    }
}
