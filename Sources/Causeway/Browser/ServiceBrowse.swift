internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// A running search for the instances of one service type.
///
/// Collects the DNS answers from all permitted interfaces, and reports changes from several messages in one call. An
/// interface that becomes prohibited, for example because it becomes expensive, takes its results with it.
final class ServiceBrowse: Sendable {
    /// Called with all results and the changes. The calls run one at a time, in order.
    typealias Handler = @Sendable (Set<NWBrowser.Result>, Set<NWBrowser.Result.Change>) -> Void

    /// The service type and the domain to search.
    struct Query: Sendable {
        var type: DNSServiceType
        var domain: DNSName
        var wantsText: Bool
    }

    /// The functions with which a search gets its data.
    struct Sources: Sendable {
        /// Starts a query. The first function is called as `failed` in ``RecordQuestion/init(_:_:in:of:failed:_:)``,
        /// the second with changed records.
        var ask:
            @Sendable (
                DNSName, DNSRecordType, QuestionScope, @escaping @Sendable (NameProblem?) -> Void,
                @escaping @Sendable (RecordChanges) -> Void
            ) -> RecordQuestion
        /// Calls a function with the network model and with each changed model. Returns a function that ends the calls.
        var follow: @Sendable (@escaping @Sendable (NetworkModel) -> Void) -> @Sendable () -> Void

        static let live = Sources(
            ask: { name, type, scope, failed, handler in
                RecordQuestion(name, type, in: scope, failed: failed, handler)
            },
            follow: { body in
                let subscription = NetworkStateMonitor.shared.subscribe(body)
                return { subscription.cancel() }
            })
    }

    private struct Progress {
        var found: FoundServices
        var question: RecordQuestion?
        /// The queries for TXT records.
        var textQuestions: [DNSName: RecordQuestion] = [:]
        /// Ends the reports of network changes.
        var unfollow: (@Sendable () -> Void)?
        var isPosted = false
        var hasEnded = false
    }

    /// The results that the program has already received. They have their own lock, so that an event loop does not wait
    /// while a large result set is built.
    private struct Reported {
        var byName: [DNSName: NWBrowser.Result] = [:]
        var results: Set<NWBrowser.Result> = []
    }

    private let query: Query
    /// The interfaces that the program's parameters permit.
    private let constraints: PathConstraints
    /// The interfaces that the parameters permit for queries to DNS servers.
    private let servers: ResolutionScope
    private let sources: Sources
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let failed: @Sendable (NWError?) -> Void
    private let handler: Handler
    private let progress: LockedValue<Progress>
    private let reported = LockedValue(Reported())

    /// - Parameters:
    ///   - limits: The interfaces that the program permits.
    ///   - post: Runs a block on the program's queue, in order.
    ///   - failed: Called with an error when the queries to DNS servers begin to fail, and with `nil` when the servers
    ///     reply again.
    init(
        _ query: Query, limits: PathLimits, from sources: Sources = .live,
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        failed: @escaping @Sendable (NWError?) -> Void, _ handler: @escaping Handler
    ) {
        let settings = limits.settings
        let constraints = settings.pathConstraints
        self.query = query
        self.constraints = constraints
        servers = settings.resolutionScope
        self.sources = sources
        self.post = post
        self.failed = failed
        self.handler = handler
        let isLimited = constraints.requiredInterface != nil || constraints.excludesInterfaces
        // Until the first network model arrives, it is not known which interfaces the limits permit.
        let found = FoundServices(permitted: isLimited && query.domain.isOfLink ? [] : nil)
        progress = LockedValue(Progress(found: found))
    }

    func start() {
        guard let domain = browsedName else { return }
        let tellFailure: @Sendable (NameProblem?) -> Void = { [weak self] problem in
            self?.failed(problem.map { $0.failure.networkError })
        }
        let permitted = progress.withLock { progress in progress.found.permitted }
        let question = sources.ask(domain, .ptr, scope(permitted), tellFailure) { [weak self] changes in
            self?.heard(changes)
        }
        let isLate = progress.withLock { progress in
            progress.question = question
            return progress.hasEnded
        }
        if isLate { return question.stop() }
        // Without limits, network changes have no effect on the results.
        if permitted != nil { followNetwork() }
    }

    func stop() {
        let (questions, unfollow) = progress.withLock { progress -> ([RecordQuestion], (@Sendable () -> Void)?) in
            progress.hasEnded = true
            progress.found.removeAll()
            let questions = [progress.question].compactMap { $0 } + Array(progress.textQuestions.values)
            progress.textQuestions = [:]
            return (questions, progress.unfollow.take())
        }
        unfollow?()
        for question in questions { question.stop() }
    }

    private func scope(_ permitted: Set<Int>?) -> QuestionScope {
        QuestionScope(interfaces: permitted, servers: servers)
    }

    /// The name whose PTR records list the service instances. A search for a subtype uses another name (RFC 6763 §7.1).
    /// That name consists of the subtype, `_sub`, the type and the domain.
    private var browsedName: DNSName? {
        guard let domain = query.type.name.appending(query.domain) else { return nil }
        guard let subtype = query.type.subtypes.first else { return domain }
        return DNSName("_sub", in: domain).flatMap { DNSName(subtype, in: $0) }
    }

    // MARK: Permitted interfaces

    private func followNetwork() {
        let unfollow = sources.follow { [weak self] model in self?.networkChanged(model) }
        let isLate = progress.withLock { progress in
            progress.unfollow = progress.hasEnded ? nil : unfollow
            return progress.hasEnded
        }
        if isLate { unfollow() }
    }

    /// Applies the limits to a changed network. Called on the network monitor's loop, one call at a time.
    private func networkChanged(_ model: NetworkModel) {
        let permitted = model.permittedIndices(constraints)
        let questions = progress.withLock { progress -> (kept: [RecordQuestion], stale: [RecordQuestion])? in
            guard !progress.hasEnded, progress.found.permitted != permitted else { return nil }
            let gone = progress.found.permit(only: permitted)
            let stale = gone.compactMap { progress.textQuestions.removeValue(forKey: $0) }
            return ([progress.question].compactMap { $0 } + Array(progress.textQuestions.values), stale)
        }
        // Most changes of the network, for example of a route, leave the permitted interfaces as they are.
        guard let questions else { return }
        for question in questions.stale { question.stop() }
        for question in questions.kept { question.limit(permitted) }
        publish()
    }

    /// Limits a new query, if the permitted interfaces have changed since it was created.
    private func limit(_ question: RecordQuestion, from known: Set<Int>?) {
        var known = known
        // The network can change again between the two statements, and that change may have limited the query already.
        while let current = progress.withLock({ progress in progress.found.permitted }), current != known {
            question.limit(current)
            known = current
        }
    }

    // MARK: On an event loop

    private func heard(_ event: RecordChanges) {
        for case .name(let instance) in event.added.map(\.data) { appeared(instance, event.interface) }
        for case .name(let instance) in event.removed.map(\.data) { disappeared(instance, event.interface) }
        publish()
    }

    private func appeared(_ instance: DNSName, _ interface: NWInterface?) {
        guard DNSServiceInstance(instance, of: query.type.name) != nil else { return }
        let (isNew, permitted) = progress.withLock { progress -> (Bool, Set<Int>?) in
            guard !progress.hasEnded else { return (false, nil) }
            let isNew = progress.found.appeared(instance, on: interface)
            return (isNew, progress.found.permitted)
        }
        guard isNew, query.wantsText else { return }
        let question = sources.ask(instance, .txt, scope(permitted), { _ in }) { [weak self] changes in
            self?.heardText(changes, instance)
        }
        let isLate = progress.withLock { progress in
            guard progress.found.holds(instance) else { return true }
            progress.textQuestions[instance] = question
            return false
        }
        if isLate { question.stop() } else { limit(question, from: permitted) }
    }

    private func disappeared(_ instance: DNSName, _ interface: NWInterface?) {
        let question = progress.withLock { progress -> RecordQuestion? in
            guard progress.found.disappeared(instance, from: interface) else { return nil }
            return progress.textQuestions.removeValue(forKey: instance)
        }
        question?.stop()
    }

    private func heardText(_ event: RecordChanges, _ instance: DNSName) {
        guard case .text(let bytes)? = event.added.last?.data else { return }
        let text = NWTXTRecord(bytes == [0] ? Data() : Data(bytes))
        progress.withLock { progress in progress.found.described(instance, by: text, on: event.interface) }
        publish()
    }

    // MARK: On the program's queue

    private func publish() {
        let isFirst = progress.withLock { progress in
            defer { progress.isPosted = true }
            return !progress.isPosted
        }
        if isFirst { post { self.tell() } }
    }

    /// Reports the changes since the last report. The cost depends only on the number of changed instances, not on the
    /// number of all instances. A large network can have thousands of instances, which arrive in hundreds of DNS
    /// messages.
    private func tell() {
        let updates = progress.withLock { progress -> [(DNSName, FoundServices.Instance?)] in
            progress.isPosted = false
            return progress.hasEnded ? [] : progress.found.takeChanged()
        }
        let (results, changes) = reported.withLock { reported in
            let changes = updates.compactMap { name, instance in change(of: name, to: instance, in: &reported) }
            return (reported.results, Set(changes))
        }
        if !changes.isEmpty { handler(results, changes) }
    }

    private func change(
        of name: DNSName, to instance: FoundServices.Instance?, in reported: inout Reported
    ) -> NWBrowser.Result.Change? {
        // If the query includes TXT records, report a service only when its TXT record has arrived.
        let new = instance.flatMap { !query.wantsText || $0.text != nil ? result(name, $0) : nil }
        let old = reported.byName[name]
        let change = NWBrowser.Result.Change(between: old, new)
        guard change != .identical else { return nil }
        reported.byName[name] = new
        if let old { reported.results.remove(old) }
        if let new { reported.results.insert(new) }
        return change
    }

    private func result(_ name: DNSName, _ instance: FoundServices.Instance) -> NWBrowser.Result? {
        DNSServiceInstance(name, of: query.type.name).map { service in
            NWBrowser.Result(
                endpoint: .service(
                    name: service.label, type: String(query.type.name.description.dropLast()),
                    domain: service.domain.description, interface: nil),
                interfaces: instance.interfaces.compactMap(\.self).sorted { $0.index < $1.index },
                metadata: instance.text.map { .bonjour($0) } ?? .none)
        }
    }
}
