internal import CausewayProtocols
internal import CausewaySystem

extension BonjourEngine {
    /// Starts to monitor the machine's sleep. If logind runs, it announces sleep in advance. Even without logind, a
    /// wake-up is noticed, because the boot-time clock, unlike the monotonic clock, also counts the time asleep.
    func followSleep() {
        let resumption = ResumptionWatch(on: loop) { self.settle() }
        let notices = BusWatch(on: loop, SleepNotices(user: System.user)) { self.told($0) }
        state.value.sleep.follow(resumption, notices, slept: System.sleepTime)
    }

    /// Handles a notification from logind.
    ///
    /// - Parameter status: The new state; `nil` if logind will send no more notifications. A wake-up would then never
    ///   be reported, so `nil` counts as awake.
    private func told(_ status: SleepNotices.State?) {
        guard state.value.network != nil, state.value.sleep.changed(to: status == .asleep ? .asleep : .awake) else {
            return
        }
        if state.value.sleep.isAsleep {
            for link in state.value.links.values { fallAsleep(link) }
        } else {
            rouse()
        }
        settle()
        // The machine is going to sleep. So send all waiting messages now, even if this exceeds the rate limit.
        if state.value.sleep.isAsleep { for link in state.value.links.values { link.flush(all: true) } }
    }

    /// Repeats all queries, probes and announcements after the computer has slept, because the links may have changed
    /// (RFC 6762 §8, §10.3).
    ///
    /// Each call of ``settle()`` calls ``wakeUp()``. This call has no effect unless the computer has slept for more
    /// than a second since the previous call.
    func wakeUp() {
        if state.value.network != nil, state.value.sleep.hasSlept(System.sleepTime) { rouse() }
    }

    private func rouse() {
        state.value.sleep.wokeUp()
        for link in state.value.links.values {
            takeBack(link)
            link.machine.restart(at: System.now)
        }
    }
}
