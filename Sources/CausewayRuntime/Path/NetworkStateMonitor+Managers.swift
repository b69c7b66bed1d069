internal import CausewayProtocols

extension NetworkStateMonitor {
    /// What the programs that manage networks said, and who listens to them.
    struct ManagerState: Sendable {
        /// As they said last; empty where there are none.
        var facts = InterfaceFacts()
        var watch: (any NetworkChangeMonitor.Watch)?
        /// Reports of watches before this one count no more.
        var generation: UInt64 = 0
        /// Whether to look for them at the next look at the kernel: at the first one, and after changes, for networks often change
        /// because such a program came.
        var isSearchDue = false
        var isChangeScheduled = false

        /// Forgets them. Returns the watch, to be cancelled.
        mutating func forget() -> (any NetworkChangeMonitor.Watch)? {
            generation += 1
            (facts, isSearchDue) = (InterfaceFacts(), false)
            return watch.take()
        }
    }

    /// Looks for programs that manage networks, if nobody listens to them and a search is due.
    func followManagers() {
        let generation = withManagers { managers -> UInt64? in
            guard managers.isSearchDue else { return nil }
            managers.isSearchDue = false
            guard managers.watch == nil else { return nil }
            managers.generation += 1
            return managers.generation
        }
        guard let generation else { return }
        let watch = managers { [weak self] facts in self?.managersSaid(facts, generation) }
        guard let watch else { return }
        // The last subscriber may have gone meanwhile.
        let isWanted = withManagers { managers in
            guard managers.generation == generation else { return false }
            managers.watch = watch
            return true
        }
        if !isWanted { watch.cancel() }
    }

    /// Several things are said at a time: they make one look.
    private func managersSaid(_ facts: InterfaceFacts?, _ generation: UInt64) {
        let mustSchedule = withManagers { managers in
            guard managers.generation == generation else { return false }
            let before = managers.facts
            if let facts { managers.facts = facts } else { _ = managers.forget() }
            guard managers.facts != before, !managers.isChangeScheduled else { return false }
            managers.isChangeScheduled = true
            return true
        }
        guard mustSchedule else { return }
        _ = Engine.networkLoop.schedule(after: NetworkChangeMonitor.window) {
            self.withManagers { $0.isChangeScheduled = false }
            self.changed()
        }
    }
}
