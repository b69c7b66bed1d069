internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// A network that is exchanged for another one while a race goes on: an attempt whose source address is gone will never be answered, and
/// the kernel goes on with it for minutes.
///
/// What connects at once never comes here. Whether another network is better is the business of connections that wait or are ready.
extension Connector {
    /// Follows the network from now on, for a race that takes long.
    func watchForLoss() {
        guard mayTakeLong, progress.fallbacks.watch == nil, progress.settings.localAddress == nil else { return }
        progress.fallbacks.watch = NetworkStateMonitor.shared.subscribe { [weak self] model in
            guard let self else { return }
            loop.execute { self.dropLost(in: model) }
        }
    }

    /// Attempts that have lost their address have failed, those over other interfaces too.
    private func dropLost(in model: NetworkModel) {
        for candidate in progress.attempts.keys.sorted() {
            guard let attempt = progress.attempts[candidate], attempt.hasLostAddress(in: model) else { continue }
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
        // The model may be older than the attempt; the kernel knows.
        do throws(SystemError) {
            try Socket.bind(probe.rawValue, to: source.with(port: 0))
            return false
        } catch {
            return error.errno == Errno.addressNotAvailable
        }
    }
}
