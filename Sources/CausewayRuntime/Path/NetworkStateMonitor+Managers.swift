internal import CausewayProtocols

extension NetworkStateMonitor {
    /// Information from network managers, and the watch that receives it.
    struct ManagerState: Sendable {
        /// The latest information from network managers; empty if there are none.
        var facts = InterfaceFacts()
        var watch: (any NetworkChangeMonitor.Watch)?
        /// Identifies the current watch. Reports from earlier watches are ignored.
        var generation: UInt64 = 0
        /// Whether to search for network managers after the next network snapshot. A search is needed after the first
        /// snapshot and after each change. The reason is that a starting manager often changes the network.
        var isSearchDue = false
        var isChangeScheduled = false

        /// Clears the information from network managers. Returns the watch, if there is one. The caller must cancel it.
        mutating func forget() -> (any NetworkChangeMonitor.Watch)? {
            generation += 1
            (facts, isSearchDue) = (InterfaceFacts(), false)
            return watch.take()
        }
    }

    /// Starts to watch the network managers. Does nothing if they are already watched, or if no search is due.
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
        // The last subscriber may have cancelled its subscription while the watch was being started. In that case,
        // cancel the watch.
        let isWanted = withManagers { managers in
            guard managers.generation == generation else { return false }
            managers.watch = watch
            return true
        }
        if !isWanted { watch.cancel() }
    }

    /// Stores new information from network managers. If several updates arrive together, only one new snapshot is
    /// taken.
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
