package import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
package import CausewayWire

/// Looks up names for the whole process: in the host's files, a cache, DNS and multicast DNS.
///
/// Queries run on one loop and never block it. Results that need no query are returned on the caller's thread. Every
/// method may be called from any thread.
package final class ResolverEngine: Sendable {
    package static let shared = ResolverEngine(on: Engine.loops[0]) { NetworkStateMonitor.shared.nameServersChanged() }

    /// A DNS client and its sockets. All its queries have the same restrictions, such as the interface.
    private struct Channel: ~Copyable {
        var client: DNSClient
        var transports: DNSTransports?
        var timer: TimerID?
        var deadline: Duration?
        /// The pending queries' completion handlers.
        var askers: [DNSClient.QuestionID: @Sendable (DNSAnswer) -> Void] = [:]
    }

    private final class ChannelBox: Sendable {
        let channel: LoopBound<Channel>
        /// The cache's number for this scope, which is a set of interface restrictions. It is 0 for the scope without
        /// restrictions.
        let number: UInt64

        init(_ channel: LoopBound<Channel>, number: UInt64) {
            self.channel = channel
            self.number = number
        }
    }

    private struct State {
        var channels: [ResolutionScope: ChannelBox] = [:]
        /// The DNS client and sockets for queries without restrictions, which are the most common queries.
        var usual: ChannelBox?
        var lastScope: UInt64 = 0
        /// Two lists: the DNS servers that this host queries, and the DNS servers that answer these queries. The lists
        /// differ if a local forwarder passes the queries on. `nil` before the host's resolver files have been read.
        var servers: (queried: [DNSServer], answering: [InternetAddress])?
    }

    let loop: any EventLoop
    let settings: ResolverSettings
    let cache = LockedValue(ResolverCache())
    private let state: LoopBound<State>
    private let serversChanged: @Sendable () -> Void
    private let hasStarted = LockedValue(false)

    /// - Parameters:
    ///   - loop: The loop for queries.
    ///   - files: The host's resolver files.
    ///   - port: The port for all DNS servers, because the configuration files cannot specify a port.
    ///   - serversChanged: Called on the loop when the DNS servers have changed: the servers that this host queries, or
    ///     the servers to which a local forwarder passes the queries.
    package init(
        on loop: any EventLoop, files: ResolverFiles = ResolverFiles(), port: UInt16 = DNSServer.usualPort,
        serversChanged: @escaping @Sendable () -> Void = {}
    ) {
        self.loop = loop
        self.serversChanged = serversChanged
        settings = ResolverSettings(files, port: port)
        state = LoopBound(State(), to: loop)
    }

    /// The number of open sockets, for tests. Call it only on the loop.
    package var socketCount: Int {
        state.value.channels.values.reduce(0) { $0 + ($1.channel.value.transports?.socketCount ?? 0) }
    }

    package func onLoop(_ body: @escaping @Sendable () -> Void) { loop.execute(body) }

    // MARK: On any thread

    /// Returns the complete result for a name if no query is necessary; otherwise `nil`.
    ///
    /// - Parameter mayRead: Whether this call may read the host's files if their content is not known yet. The read can
    ///   block, so pass `false` on an event loop. If the content is unknown and the call may not read, the result is
    ///   `nil`.
    package func known(_ request: NameRequest, mayRead: Bool = false) -> [NameEvent]? {
        // Return `nil` for a request with interface restrictions. Such a request has its own cache entries, and its
        // restrictions may exclude every DNS server.
        guard request.scope.isUnlimited else { return nil }
        follow()
        // Read the hosts file first, because even the addresses for `localhost` depend on it.
        guard let settings = mayRead ? self.settings.readNow() : self.settings.current else { return nil }
        var lookup = NameLookup(request.name, families: request.families, in: settings.context)
        var events: [NameEvent] = []
        var actions = lookup.begin()
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .ask(let name, let type):
                guard let answer = cached(name, type, request.partition) else { return nil }
                events.append(.answered(type, answer, .cache))
                actions += lookup.answered(name, type, with: answer, from: .cache)
            case .askLink: return nil
            case .found(let addresses, let family, let origin):
                events.append(.found(addresses.map { SocketAddress($0, port: 0) }, family, origin))
            case .settled(let family): events.append(.settled(family))
            case .end(let problem): events.append(.ended(problem))
            }
        }
        return events
    }

    package func resolve(
        _ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void
    ) -> any NameResolving {
        let resolution = NameResolution(request, self, report)
        withSettings { resolution.begin(in: $0.context) }
        return resolution
    }

    /// Queries DNS or the cache. `completion` is called once, on the resolver's loop.
    ///
    /// - Parameter servers: The servers to query instead of the host's own. Their answers are not cached.
    package func ask(
        _ name: DNSName, _ type: DNSRecordType, servers: [DNSServer]? = nil, scope: ResolutionScope = .init(),
        partition: UInt64 = 0, _ completion: @escaping @Sendable (DNSAnswer, AddressOrigin) -> Void
    ) {
        withSettings { _ in
            guard let servers else {
                _ = self.question(name, type, scope, partition) { completion($0, $1) }
                return
            }
            _ = self.question(name, type, to: servers, scope, completion)
        }
    }

    /// Deletes all cached answers of one cache partition.
    package func forget(partition: UInt64) {
        cache.withLock { $0.removeAll(partition: partition) }
    }

    private func cached(_ name: DNSName, _ type: DNSRecordType, _ partition: UInt64) -> DNSAnswer? {
        let key = ResolverCache.Key(name, type, partition: partition)
        let now = System.now
        return cache.withLock { $0.find(key, at: now)?.answer }
    }

    /// Calls `body` on the loop as soon as the host's files have been read. The `question` methods below may be called
    /// only from `body`.
    func withSettings(_ body: @escaping @Sendable (ResolverSettings.Value) -> Void) {
        follow()
        loop.execute { self.settings.whenRead(on: self.loop, body) }
    }

    private func follow() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        if isFirst { settings.follow(on: loop) { [weak self] in self?.filesChanged() } }
    }

    /// Applies the new files. If the servers have changed, clears the cache, because new servers may give other
    /// answers.
    private func filesChanged() {
        let (value, old) = (settings.latest, state.value.servers)
        state.value.servers = (queried: value.servers, answering: value.answering)
        let hasNewServers = old.map { $0.queried != value.servers || $0.answering != value.answering } ?? false
        let options = value.context.configuration.options
        for box in state.value.channels.values where hasNewServers || box.channel.value.client.settings != options {
            box.channel.value.client.use(value.servers, options)
        }
        guard hasNewServers else { return }
        cache.withLock { $0.removeAll() }
        serversChanged()
    }

    // MARK: On the loop

    /// Queries the given servers without caching the answer. Returns a closure that cancels the query.
    func question(
        _ name: DNSName, _ type: DNSRecordType, to servers: [DNSServer], _ scope: ResolutionScope,
        _ completion: @escaping @Sendable (DNSAnswer, AddressOrigin) -> Void
    ) -> @Sendable () -> Void {
        let box = makeChannel(servers, settings.latest.context.configuration.options, scope)
        let id = ask(name, type, box) { answer in
            // The closure retains `box`, which holds the DNS client and the client's sockets. The sockets must stay
            // open until the query ends.
            withExtendedLifetime(box) { completion(answer, .query(answer.carrier ?? .udp)) }
        }
        return {
            self.loop.execute {
                box.channel.value.askers[id] = nil
                self.perform(box.channel.value.client.cancel(id, at: System.now), box)
            }
        }
    }

    /// Asks the cache or DNS for the records that a lookup needs. Returns a closure that cancels the query. `nil` if
    /// the cache has already answered.
    func question(
        _ name: DNSName, _ type: DNSRecordType, _ scope: ResolutionScope, _ partition: UInt64,
        allowingExpired: Bool = false, _ completion: @escaping @Sendable (DNSAnswer, AddressOrigin) -> Void
    ) -> (@Sendable () -> Void)? {
        let box = channel(for: scope)
        let key = ResolverCache.Key(name, type, partition: partition, scope: box.number)
        let now = System.now
        let (found, clearCount) = cache.withLock { cache in
            (cache.find(key, allowingExpired: allowingExpired, at: now), cache.clearCount)
        }
        if let found {
            completion(found.answer, found.isExpired ? .expiredCache : .cache)
            if !found.isExpired { return nil }
        }
        let id = ask(name, type, box, partition) { [weak self] answer in
            self?.cache.withLock { $0.store(answer, for: key, unlessClearedSince: clearCount, at: System.now) }
            completion(answer, .query(answer.carrier ?? .udp))
        }
        return { [weak self] in self?.cancel(id, scope) }
    }

    @discardableResult
    private func ask(
        _ name: DNSName, _ type: DNSRecordType, _ box: ChannelBox, _ partition: UInt64 = 0,
        _ completion: @escaping @Sendable (DNSAnswer) -> Void
    ) -> DNSClient.QuestionID {
        let (id, actions) = box.channel.value.client.ask(name, type, in: partition, at: System.now)
        box.channel.value.askers[id] = completion
        perform(actions, box)
        return id
    }

    private func cancel(_ id: DNSClient.QuestionID, _ scope: ResolutionScope) {
        loop.execute {
            guard let box = self.state.value.channels[scope] else { return }
            box.channel.value.askers[id] = nil
            self.perform(box.channel.value.client.cancel(id, at: System.now), box)
        }
    }

    private func perform(_ actions: [DNSClient.Action], _ box: ChannelBox) {
        for action in actions {
            switch action {
            case .send(let exchange, let bytes, let id, let server, let carrier):
                box.channel.value.transports?.send(exchange, bytes, id: id, to: server, over: carrier)
            case .forget(let exchange): box.channel.value.transports?.forget(exchange)
            case .answer(let question, let answer): box.channel.value.askers.removeValue(forKey: question)?(answer)
            }
        }
        schedule(box)
    }

    private func schedule(_ box: ChannelBox) {
        let deadline = box.channel.value.client.deadline
        // When a query ends, the deadline may become later. Keep the earlier timer in that case, because an early call
        // does no harm.
        if let armed = box.channel.value.deadline, let deadline, armed <= deadline { return }
        guard deadline != box.channel.value.deadline else { return }
        if let timer = box.channel.value.timer.take() { loop.cancel(timer) }
        box.channel.value.deadline = deadline
        guard let deadline else { return }
        box.channel.value.timer = loop.schedule(after: deadline - System.now) { [weak self, weak box] in
            guard let self, let box else { return }
            box.channel.value.timer = nil
            box.channel.value.deadline = nil
            self.perform(box.channel.value.client.advance(to: System.now), box)
        }
    }

    // MARK: Channels

    /// The number of DNS clients at which unused clients are removed, before another client is created. There is one
    /// client for each set of interface restrictions.
    private static let channelLimit = 64

    private func channel(for scope: ResolutionScope) -> ChannelBox {
        if scope.isUnlimited, let usual = state.value.usual { return usual }
        if let known = state.value.channels[scope] { return known }
        if state.value.channels.count >= Self.channelLimit {
            state.value.channels = state.value.channels.filter { !$0.value.channel.value.client.isIdle }
            state.value.usual = state.value.channels[ResolutionScope()]
        }
        let value = settings.latest
        let box = makeChannel(value.servers, value.context.configuration.options, scope)
        state.value.channels[scope] = box
        if scope.isUnlimited { state.value.usual = box }
        return box
    }

    private func makeChannel(
        _ servers: [DNSServer], _ options: ResolverConfiguration.Options, _ scope: ResolutionScope
    ) -> ChannelBox {
        if !scope.isUnlimited { state.value.lastScope += 1 }
        let box = ChannelBox(
            LoopBound(Channel(client: DNSClient(servers, options, random: BulkRandom())), to: loop),
            number: scope.isUnlimited ? 0 : state.value.lastScope)
        box.channel.value.transports = DNSTransports(scope, on: loop) { [weak self, weak box] event in
            guard let self, let box else { return }
            self.heard(event, box)
        }
        return box
    }

    private func heard(_ event: DNSTransports.Event, _ box: ChannelBox) {
        let now = System.now
        switch event {
        case .received(let bytes, let exchange):
            perform(box.channel.value.client.received(bytes, for: exchange, at: now), box)
        case .failed(let exchange, let failure):
            perform(box.channel.value.client.failed(exchange, because: failure, at: now), box)
        }
    }
}
