internal import CausewayProtocols
internal import CausewaySystem

extension BonjourEngine {
    /// Starts to monitor sleep and wake-up. The kernel's clock reports the wake-up; logind, if it runs, reports the beginning of sleep.
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

    /// - Parameter status: The new state; `nil` if no more notifications will follow. The wake-up would then be missed, so `nil` counts as
    ///   awake.
    private func told(_ status: SleepNotices.State?) {
        guard state.value.watch != nil, state.value.isAsleep != (status == .asleep) else { return }
        state.value.isAsleep = status == .asleep
        if state.value.isAsleep {
            for link in state.value.links.values { fallAsleep(link) }
        } else {
            rouse()
        }
        settle()
        // The machine is about to sleep, so send all messages without rate limit.
        if state.value.isAsleep { for link in state.value.links.values { link.flush(all: true) } }
    }

    /// Sends all queries, probes and announcements again after sleep, because the links may have changed (RFC 6762 §8, §10.3).
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
