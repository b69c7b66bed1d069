internal import CCausewayLinux

/// A descriptor that becomes readable after the wall clock has jumped, because the clock was set or the machine has slept
/// (timerfd_create(2)).
package enum ClockWatch {
    package static func open() throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_clock_watch(), "timerfd_create"))
    }

    /// Returns whether the wall clock was set to another time since the previous call.
    package static func hasJumped(_ fd: CInt) -> Bool { cw_clock_has_jumped(fd) }
}
