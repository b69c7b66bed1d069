internal import CausewayTypes
internal import CausewayWire

/// The known sleep proxies of a link, and the addresses of the best ones.
///
/// When records change, the list adds actions to the client's actions: queries to start, and queries to stop.
struct SleepProxyList: Sendable {
    private struct Proxy: Sendable {
        let metrics: SleepProxyMetrics
        /// Whether the proxy's address is being queried. Only the addresses of the best proxies are queried.
        var isLocated = false
        var locations: [DNSRecord] = []
        var target: DNSName? {
            if case .service(_, _, _, let target)? = locations.last?.data { target } else { nil }
        }
        var port: UInt16 {
            if case .service(_, _, let port, _)? = locations.last?.data { port } else { 0 }
        }
    }

    private var proxies: [DNSName: Proxy] = [:]
    /// The addresses of the proxies' hosts, by host name. If a host has no entry, its addresses are not queried.
    private var addresses: [DNSName: [DNSRecordData]] = [:]
    /// Whether ``SleepProxyClient/proxyLimit`` has excluded a proxy. Counted from the latest query for all proxies.
    private var hasExcluded = false

    var count: Int { proxies.count }

    /// Addresses of known proxies, best first.
    var reachable: [MulticastPeer] {
        ranked.compactMap { _, proxy in
            guard let target = proxy.target, proxy.port != 0 else { return nil }
            return addresses[target]?.compactMap { $0.peer(port: proxy.port) }.min(by: Self.precedes)
        }
    }

    // MARK: Order

    /// All known proxies. The best proxy is first.
    private var ranked: [(name: DNSName, proxy: Proxy)] {
        proxies.sorted(by: Self.isBetter).map { ($0.key, $0.value) }
    }

    /// The name of the least preferred proxy, which is the last in ``ranked``. This property finds it without sorting.
    private var worst: DNSName? { proxies.max(by: Self.isBetter)?.key }

    private static func isBetter(_ left: (key: DNSName, value: Proxy), _ right: (key: DNSName, value: Proxy)) -> Bool {
        guard left.value.metrics == right.value.metrics else { return left.value.metrics < right.value.metrics }
        return left.key.wire.lexicographicallyPrecedes(right.key.wire)
    }

    /// Whether `left` is preferred to `right`. IPv4 is preferred to IPv6, because an IPv4 address needs no scope.
    private static func precedes(_ left: MulticastPeer, _ right: MulticastPeer) -> Bool {
        switch (left.address, right.address) {
        case (.ipv4(let left), .ipv4(let right)): left.bits < right.bits
        case (.ipv6(let left), .ipv6(let right)): (left.high, left.low) < (right.high, right.low)
        case (.ipv4, .ipv6): true
        case (.ipv6, .ipv4): false
        }
    }

    // MARK: Records

    /// Processes a change in the answers to a question. Adds the queries that become necessary to `actions`.
    mutating func changed(
        _ question: DNSQuestion, added: [DNSRecord], removed: [DNSRecord], _ actions: inout [SleepProxyClient.Action]
    ) {
        switch question.type {
        case .ptr:
            for case .name(let name) in removed.map(\.data) { forget(name, &actions) }
            for case .name(let name) in added.map(\.data) { adopt(name, &actions) }
            askAgain(question, &actions)
            locateBest(&actions)
        case .srv:
            guard let before = proxies[question.name], before.isLocated else { return }
            proxies[question.name]?.locations.removeAll { old in removed.contains { $0.data == old.data } }
            proxies[question.name]?.locations += added
            follow(from: before.target, to: proxies[question.name]?.target, &actions)
        case .a, .aaaa:
            guard addresses[question.name] != nil else { return }
            addresses[question.name]?.removeAll { old in removed.contains { $0.data == old } }
            addresses[question.name]? += added.map(\.data)
        default: break
        }
    }

    private mutating func adopt(_ name: DNSName, _ actions: inout [SleepProxyClient.Action]) {
        guard name.droppingFirst() == SleepProxyClient.type, let label = name.firstLabel, proxies[name] == nil,
            let metrics = SleepProxyMetrics(label)
        else { return }
        proxies[name] = Proxy(metrics: metrics)
        guard proxies.count > SleepProxyClient.proxyLimit, let worst else { return }
        forget(worst, &actions)
        hasExcluded = true
    }

    /// Starts the query for proxies again. This is done if the limit excluded some proxies and only few others are
    /// left. The cache reports each record only once, so only a new query finds the excluded proxies.
    private mutating func askAgain(_ question: DNSQuestion, _ actions: inout [SleepProxyClient.Action]) {
        guard hasExcluded, proxies.count < SleepProxyClient.locatedLimit else { return }
        hasExcluded = false
        actions += [.stop(question), .ask(question)]
    }

    private mutating func forget(_ name: DNSName, _ actions: inout [SleepProxyClient.Action]) {
        stopLocating(name, &actions)
        proxies[name] = nil
    }

    /// Starts SRV queries for the best proxies, and stops them for all others, so that many proxies on a link cost few
    /// queries. When one of the best proxies disappears, the next best proxy is queried instead.
    private mutating func locateBest(_ actions: inout [SleepProxyClient.Action]) {
        let names = ranked.map(\.name)
        for name in names.dropFirst(SleepProxyClient.locatedLimit) { stopLocating(name, &actions) }
        for name in names.prefix(SleepProxyClient.locatedLimit) where proxies[name]?.isLocated == false {
            proxies[name]?.isLocated = true
            actions.append(.ask(DNSQuestion(name, .srv)))
        }
    }

    private mutating func stopLocating(_ name: DNSName, _ actions: inout [SleepProxyClient.Action]) {
        guard let proxy = proxies[name], proxy.isLocated else { return }
        proxies[name] = Proxy(metrics: proxy.metrics)
        actions.append(.stop(DNSQuestion(name, .srv)))
        follow(from: proxy.target, to: nil, &actions)
    }

    /// Queries the addresses of a proxy's host after its SRV record changed. Stops the queries for the previous host
    /// unless another proxy runs there.
    private mutating func follow(from old: DNSName?, to new: DNSName?, _ actions: inout [SleepProxyClient.Action]) {
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
}

extension DNSRecordData {
    fileprivate func peer(port: UInt16) -> MulticastPeer? {
        switch self {
        case .ipv4(let address): MulticastPeer(.ipv4(address), port: port)
        case .ipv6(let address): MulticastPeer(.ipv6(address), port: port)
        default: nil
        }
    }
}
