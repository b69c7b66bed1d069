internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Fails an attempt at once if its source address was removed during the race. No answer can arrive at that address,
/// but the kernel would retransmit for minutes.
///
/// The race subscribes to network changes only if it takes long. So a target that connects at once causes no additional
/// work. This code does not check whether another network is better. Waiting and ready connections do that.
extension Connector {
    /// Subscribes to network changes, for a race that takes long.
    func watchForLoss() {
        guard mayTakeLong, progress.fallbacks.watch == nil, settings.localAddress == nil else { return }
        progress.fallbacks.watch = NetworkStateMonitor.shared.subscribe { [weak self] model in
            guard let self else { return }
            loop.execute { self.dropLost(in: model) }
        }
    }

    /// Fails all attempts whose source address was removed, including attempts over other interfaces.
    private func dropLost(in model: NetworkModel) {
        for candidate in progress.race.attempts.keys.sorted() {
            guard let attempt = progress.race.attempts[candidate], attempt.hasLostAddress(in: model) else { continue }
            progress.facts.lostNetwork = true
            failed(candidate, Errno.networkUnreachable)
        }
        for fallback in progress.fallbacks.racing.values { fallback.dropLost(in: model) }
    }
}

extension Attempt {
    fileprivate func hasLostAddress(in model: NetworkModel) -> Bool {
        guard let source, let address = source.internetAddress, model.holder(of: address) == nil,
            let probe = try? Socket.open(source.family, .datagram)
        else { return false }
        // The network model may be out of date, so ask the kernel whether the address still exists.
        do throws(SystemError) {
            try Socket.bind(probe.rawValue, to: source.with(port: 0))
            return false
        } catch {
            return error.errno == Errno.addressNotAvailable
        }
    }
}
