internal import CausewayProtocols
internal import CausewaySystem

extension BonjourEngine {
    /// Begins to hear of the machine's sleep: of its end by the kernel's clock, and of its beginning where logind runs.
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

    /// - Parameter news: `nil` when nothing more will be heard: then nobody would tell that the machine woke.
    private func told(_ news: SleepNotices.State?) {
        guard state.value.watch != nil, state.value.isAsleep != (news == .asleep) else { return }
        state.value.isAsleep = news == .asleep
        if state.value.isAsleep {
            for link in state.value.links.values { fallAsleep(link) }
        } else {
            rouse()
        }
        settle()
        // There is no time for a pace: the machine stops within a moment.
        if state.value.isAsleep { for link in state.value.links.values { link.flush(all: true) } }
    }

    /// After sleep the links are others, perhaps: everything is asked, probed and announced anew (RFC 6762 §8, §10.3).
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
