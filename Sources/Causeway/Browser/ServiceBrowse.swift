internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// A running search for the instances of one service type.
///
/// Collects the DNS answers from all interfaces, and reports changes from several messages in one call.
final class ServiceBrowse: Sendable {
    /// Called with all results and the changes. The calls run one at a time, in order.
    typealias Handler = @Sendable (Set<NWBrowser.Result>, Set<NWBrowser.Result.Change>) -> Void

    /// The service type and the domain to search.
    struct Query: Sendable {
        var type: DNSServiceType
        var domain: DNSName
        var wantsText: Bool
    }

    private struct Instance {
        /// The interfaces on which the instance was found. A service in a unicast domain has one entry, `nil`.
        var interfaces: [NWInterface?] = []
        var text: NWTXTRecord?
        var textQuestion: RecordQuestion?
    }

    private struct Progress {
        var instances: [DNSName: Instance] = [:]
        /// The instances that have changed since the latest report to the program.
        var changed: Set<DNSName> = []
        var question: RecordQuestion?
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
    private let required: NWInterface?
    private let allows: @Sendable (NWInterface) -> Bool
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let failed: @Sendable (NWError?) -> Void
    private let handler: Handler
    private let progress = LockedValue(Progress())
    private let reported = LockedValue(Reported())

    /// - Parameters:
    ///   - required: The only interface on which DNS servers are queried; `nil` for all interfaces. Has no effect for
    ///     the domain `local`.
    ///   - allows: Whether to report answers that arrived on an interface.
    ///   - post: Runs a block on the program's queue, in order.
    ///   - failed: Called with an error when the queries to DNS servers begin to fail, and with `nil` when the servers
    ///     reply again.
    init(
        _ query: Query, required: NWInterface?, allows: @escaping @Sendable (NWInterface) -> Bool,
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        failed: @escaping @Sendable (NWError?) -> Void, _ handler: @escaping Handler
    ) {
        self.query = query
        self.required = query.domain.isOfLink ? nil : required
        self.allows = allows
        self.post = post
        self.failed = failed
        self.handler = handler
    }

    func start() {
        guard let domain = browsedName else { return }
        let tellFailure: @Sendable (NameProblem?) -> Void = { [weak self] problem in
            self?.failed(problem.map { $0.failure.networkError })
        }
        let question = RecordQuestion(domain, .ptr, on: required, failed: tellFailure) { [weak self] changes in
            self?.heard(changes)
        }
        let isLate = progress.withLock { progress in
            progress.question = question
            return progress.hasEnded
        }
        if isLate { question.stop() }
    }

    func stop() {
        let questions = progress.withLock { progress in
            progress.hasEnded = true
            let questions = [progress.question].compactMap { $0 } + progress.instances.values.compactMap(\.textQuestion)
            progress.instances = [:]
            return questions
        }
        for question in questions { question.stop() }
    }

    /// The name whose PTR records list the service instances. A search for a subtype uses a separate name, which
    /// consists of the subtype, `_sub`, the type and the domain (RFC 6763 §7.1).
    private var browsedName: DNSName? {
        guard let domain = query.type.name.appending(query.domain) else { return nil }
        guard let subtype = query.type.subtypes.first else { return domain }
        return DNSName("_sub", in: domain).flatMap { DNSName(subtype, in: $0) }
    }

    // MARK: On an event loop

    private func heard(_ event: RecordChanges) {
        guard event.interface.map(allows) ?? true else { return }
        var orphaned: [RecordQuestion] = []
        for case .name(let instance) in event.added.map(\.data) { appeared(instance, event.interface) }
        for case .name(let instance) in event.removed.map(\.data) {
            if let question = disappeared(instance, event.interface) { orphaned.append(question) }
        }
        for question in orphaned { question.stop() }
        publish()
    }

    private func appeared(_ instance: DNSName, _ interface: NWInterface?) {
        guard DNSServiceInstance(instance, of: query.type.name) != nil else { return }
        let isNew = progress.withLock { progress -> Bool in
            guard !progress.hasEnded else { return false }
            let isNew = progress.instances[instance] == nil
            var entry = progress.instances[instance] ?? Instance()
            if !entry.interfaces.contains(interface) { entry.interfaces.append(interface) }
            progress.instances[instance] = entry
            progress.changed.insert(instance)
            return isNew
        }
        guard isNew, query.wantsText else { return }
        let question = RecordQuestion(instance, .txt, on: required) { [weak self] changes in
            self?.heardText(changes, instance)
        }
        let isLate = progress.withLock { progress in
            progress.instances[instance]?.textQuestion = question
            return progress.instances[instance] == nil
        }
        if isLate { question.stop() }
    }

    private func disappeared(_ instance: DNSName, _ interface: NWInterface?) -> RecordQuestion? {
        progress.withLock { progress in
            guard progress.instances[instance] != nil else { return nil }
            progress.instances[instance]?.interfaces.removeAll { $0 == interface }
            progress.changed.insert(instance)
            guard progress.instances[instance]?.interfaces.isEmpty == true else { return nil }
            return progress.instances.removeValue(forKey: instance)?.textQuestion
        }
    }

    private func heardText(_ event: RecordChanges, _ instance: DNSName) {
        guard event.interface.map(allows) ?? true, case .text(let bytes)? = event.added.last?.data else { return }
        progress.withLock { progress in
            progress.instances[instance]?.text = NWTXTRecord(bytes == [0] ? Data() : Data(bytes))
            progress.changed.insert(instance)
        }
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

    /// Reports the changes. The cost depends on how many instances changed, not on how many exist: a large network can
    /// have thousands of instances, which arrive in hundreds of DNS messages.
    private func tell() {
        let updates = progress.withLock { progress -> [(DNSName, Instance?)] in
            progress.isPosted = false
            defer { progress.changed = [] }
            return progress.hasEnded ? [] : progress.changed.map { ($0, progress.instances[$0]) }
        }
        let (results, changes) = reported.withLock { reported in
            let changes = updates.compactMap { name, instance in change(of: name, to: instance, in: &reported) }
            return (reported.results, Set(changes))
        }
        if !changes.isEmpty { handler(results, changes) }
    }

    private func change(of name: DNSName, to instance: Instance?, in reported: inout Reported) -> NWBrowser.Result
        .Change?
    {
        // If TXT records are requested, a service is reported only when its TXT record has arrived.
        let new = instance.flatMap { !query.wantsText || $0.text != nil ? result(name, $0) : nil }
        let old = reported.byName[name]
        let change = NWBrowser.Result.Change(between: old, new)
        guard change != .identical else { return nil }
        reported.byName[name] = new
        if let old { reported.results.remove(old) }
        if let new { reported.results.insert(new) }
        return change
    }

    private func result(_ name: DNSName, _ instance: Instance) -> NWBrowser.Result? {
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
