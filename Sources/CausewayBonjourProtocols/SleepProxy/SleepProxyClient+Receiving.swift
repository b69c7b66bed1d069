package import CausewayWire

extension SleepProxyClient {
    /// Reports records added to and removed from a question's answers.
    package mutating func changed(_ question: DNSQuestion, added: [DNSRecord], removed: [DNSRecord]) {
        switch question.type {
        case .ptr:
            for case .name(let name) in removed.map(\.data) { forget(name) }
            for case .name(let name) in added.map(\.data) { adopt(name) }
            locateBest()
        case .srv:
            guard let before = proxies[question.name], before.isLocated else { return }
            proxies[question.name]?.locations.removeAll { old in removed.contains { $0.data == old.data } }
            proxies[question.name]?.locations += added
            follow(from: before.target, to: proxies[question.name]?.target)
        case .a, .aaaa:
            guard addresses[question.name] != nil else { return }
            addresses[question.name]?.removeAll { old in removed.contains { $0.data == old } }
            addresses[question.name]? += added.map(\.data)
        default: break
        }
    }

    private mutating func adopt(_ name: DNSName) {
        guard name.droppingFirst() == Self.type, let label = name.firstLabel, proxies[name] == nil,
            let metrics = SleepProxyMetrics(label)
        else { return }
        proxies[name] = Proxy(metrics: metrics)
        if proxies.count > Self.proxyLimit, let worst { forget(worst) }
    }

    private mutating func forget(_ name: DNSName) {
        stopLocating(name)
        proxies[name] = nil
    }

    /// Queries the locations of the best proxies only, so that many proxies on a link cost few queries. A proxy moves up
    /// when a better one disappears.
    private mutating func locateBest() {
        let names = ranked.map(\.name)
        for name in names.dropFirst(Self.locatedLimit) { stopLocating(name) }
        for name in names.prefix(Self.locatedLimit) where proxies[name]?.isLocated == false {
            proxies[name]?.isLocated = true
            actions.append(.ask(DNSQuestion(name, .srv)))
        }
    }

    private mutating func stopLocating(_ name: DNSName) {
        guard let proxy = proxies[name], proxy.isLocated else { return }
        proxies[name] = Proxy(metrics: proxy.metrics)
        actions.append(.stop(DNSQuestion(name, .srv)))
        follow(from: proxy.target, to: nil)
    }

    /// Queries the addresses of a proxy's host after its SRV record changed. Stops the queries for the previous host
    /// unless another proxy runs there.
    private mutating func follow(from old: DNSName?, to new: DNSName?) {
        if let new, new.isWithin(.local), addresses[new] == nil {
            addresses[new] = []
            for type in [DNSRecordType.a, .aaaa] { actions.append(.ask(DNSQuestion(new, type))) }
        }
        guard let old, old != new, addresses[old] != nil, !proxies.values.contains(where: { $0.target == old }) else {
            return
        }
        addresses[old] = nil
        for type in [DNSRecordType.a, .aaaa] { actions.append(.stop(DNSQuestion(old, type))) }
    }

    /// Processes the proxy's reply. Malformed messages and messages from other peers are ignored. After an error reply
    /// the next proxy is tried.
    package mutating func received(_ bytes: Span<UInt8>, from peer: MulticastPeer, at now: Duration) {
        guard var waiting = conversation, peer == waiting.peer, let message = try? DNSMessage(parsing: bytes),
            message.flags.contains(.isResponse), message.operation == SleepProxyUpdate.operation,
            waiting.messages[message.id] != nil
        else { return }
        guard message.responseCode == .noError else { return converse(waiting.registration, at: now) }
        waiting.messages[message.id] = nil
        // A reply without a lease option grants the requested lease.
        let lease = message.extensions?.options.lazy.compactMap(DNSLease.seconds).first ?? Self.leaseSeconds
        waiting.lease = min(waiting.lease, lease)
        conversation = waiting.messages.isEmpty ? nil : waiting
        if waiting.messages.isEmpty { actions.append(.registered(leaseSeconds: waiting.lease)) }
    }
}
