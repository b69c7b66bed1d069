internal import CausewayProtocols
internal import CausewaySystem

extension BonjourEngine {
    /// Starts monitoring sleep. The boot-time clock reveals a wake-up; logind, if it runs, announces sleep in advance.
    func followSleep() {
        state.value.slept = System.sleepTime
        state.value.resumption = ResumptionWatch(on: loop) { self.settle() }
        state.value.sleepWatch = BusWatch(on: loop, SleepNotices(user: System.user)) { self.told($0) }
    }

    func stopFollowingSleep() {
        state.value.resumption.take()?.stop()
        state.value.sleepWatch.take()?.cancel()
        state.value.isAsleep = false
    }

    /// Handles a notification from logind.
    ///
    /// - Parameter status: The new state; `nil` if no more notifications will follow. The wake-up notification would
    ///   then be missing, so `nil` counts as awake.
    private func told(_ status: SleepNotices.State?) {
        guard state.value.watch != nil, state.value.isAsleep != (status == .asleep) else { return }
        state.value.isAsleep = status == .asleep
        if state.value.isAsleep {
            for link in state.value.links.values { fallAsleep(link) }
        } else {
            rouse()
        }
        settle()
        // The machine is about to sleep: send all messages now, without the rate limit.
        if state.value.isAsleep { for link in state.value.links.values { link.flush(all: true) } }
    }

    /// Repeats all queries, probes and announcements after sleep, because the links may have changed (RFC 6762 §8,
    /// §10.3). ``settle()`` calls this each time; it has no effect unless the machine slept for more than a second
    /// since the last call.
    func wakeUp() {
        let slept = System.sleepTime
        defer { state.value.slept = slept }
        guard state.value.watch != nil, slept - state.value.slept > .seconds(1) else { return }
        state.value.isAsleep = false
        rouse()
    }

    private func rouse() {
        state.value.wakeups &+= 1
        for link in state.value.links.values {
            takeBack(link)
            link.machine.restart(at: System.now)
        }
    }
}
