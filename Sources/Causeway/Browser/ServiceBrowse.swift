internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// A running search for instances of one service type: what is there now, and on which interfaces.
///
/// What comes from several interfaces and in several messages is collected, and told in one piece.
final class ServiceBrowse: Sendable {
    /// Called with all that is there and what has changed, one call at a time, in order.
    typealias Handler = @Sendable (Set<NWBrowser.Result>, Set<NWBrowser.Result.Change>) -> Void

    private struct Instance {
        var interfaces: [NWInterface] = []
        var text: NWTXTRecord?
        var textQuestion: QuestionID?
    }

    private struct Progress {
        var instances: [DNSName: Instance] = [:]
        /// Instances of which something is new since the program was told.
        var changed: Set<DNSName> = []
        var question: QuestionID?
        var isPosted = false
        var hasEnded = false
    }

    /// What the program knows. Apart from the progress, for the engine's loop never waits until a long set is made.
    private struct Told {
        var byName: [DNSName: NWBrowser.Result] = [:]
        var results: Set<NWBrowser.Result> = []
    }

    private let type: DNSServiceType
    private let wantsText: Bool
    private let allows: @Sendable (NWInterface) -> Bool
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let handler: Handler
    private let progress = Guarded(Progress())
    private let told = Guarded(Told())
    private let engine = BonjourEngine.shared

    /// - Parameters:
    ///   - allows: Whether what is seen on an interface counts.
    ///   - post: Calls a block on the program's queue, in order.
    init(
        _ type: DNSServiceType, wantsText: Bool, allows: @escaping @Sendable (NWInterface) -> Bool,
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, _ handler: @escaping Handler
    ) {
        self.type = type
        self.wantsText = wantsText
        self.allows = allows
        self.post = post
        self.handler = handler
    }

    func start() {
        guard let domain = browsedName else { return }
        let id = engine.ask(DNSQuestion(domain, .ptr)) { [weak self] event in self?.heard(event) }
        let isLate = progress.withLock { progress in
            progress.question = id
            return progress.hasEnded
        }
        if isLate { engine.stop(id) }
    }

    func stop() {
        let questions = progress.withLock { progress in
            progress.hasEnded = true
            let questions = [progress.question].compactMap { $0 } + progress.instances.values.compactMap(\.textQuestion)
            progress.instances = [:]
            return questions
        }
        for id in questions { engine.stop(id) }
    }

    /// Instances of a subtype are listed under a name of its own (RFC 6763 §7.1).
    private var browsedName: DNSName? {
        guard let domain = type.name.appending(.local) else { return nil }
        guard let subtype = type.subtypes.first else { return domain }
        return DNSName("_sub", in: domain).flatMap { DNSName(subtype, in: $0) }
    }

    // MARK: On the engine's loop

    private func heard(_ event: QuestionEvent) {
        guard allows(event.interface) else { return }
        var orphaned: [QuestionID] = []
        for case .name(let instance) in event.added.map(\.data) { appeared(instance, event.interface) }
        for case .name(let instance) in event.removed.map(\.data) {
            if let id = disappeared(instance, event.interface) { orphaned.append(id) }
        }
        for id in orphaned { engine.stop(id) }
        publish()
    }

    private func appeared(_ instance: DNSName, _ interface: NWInterface) {
        let isNew = progress.withLock { progress -> Bool in
            guard !progress.hasEnded else { return false }
            let isNew = progress.instances[instance] == nil
            var entry = progress.instances[instance] ?? Instance()
            if !entry.interfaces.contains(interface) { entry.interfaces.append(interface) }
            progress.instances[instance] = entry
            progress.changed.insert(instance)
            return isNew
        }
        guard isNew, wantsText else { return }
        let id = engine.ask(DNSQuestion(instance, .txt)) { [weak self] event in self?.heardText(event, instance) }
        let isLate = progress.withLock { progress in
            progress.instances[instance]?.textQuestion = id
            return progress.instances[instance] == nil
        }
        if isLate { engine.stop(id) }
    }

    private func disappeared(_ instance: DNSName, _ interface: NWInterface) -> QuestionID? {
        progress.withLock { progress in
            progress.instances[instance]?.interfaces.removeAll { $0 == interface }
            progress.changed.insert(instance)
            guard progress.instances[instance]?.interfaces.isEmpty == true else { return nil }
            return progress.instances.removeValue(forKey: instance)?.textQuestion
        }
    }

    private func heardText(_ event: QuestionEvent, _ instance: DNSName) {
        guard allows(event.interface), case .text(let octets)? = event.added.last?.data else { return }
        progress.withLock { progress in
            progress.instances[instance]?.text = NWTXTRecord(octets == [0] ? Data() : Data(octets))
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

    /// Costs what has changed, not what is there: thousands of services come in hundreds of messages.
    private func tell() {
        let news = progress.withLock { progress -> [(DNSName, Instance?)] in
            progress.isPosted = false
            defer { progress.changed = [] }
            return progress.hasEnded ? [] : progress.changed.map { ($0, progress.instances[$0]) }
        }
        let (results, changes) = told.withLock { told in
            let changes = news.compactMap { name, instance in change(of: name, to: instance, in: &told) }
            return (told.results, Set(changes))
        }
        if !changes.isEmpty { handler(results, changes) }
    }

    private func change(of name: DNSName, to instance: Instance?, in told: inout Told) -> NWBrowser.Result.Change? {
        // With text wanted, a service is told of together with it.
        let new = instance.flatMap { !wantsText || $0.text != nil ? result(name, $0) : nil }
        let old = told.byName[name]
        let change = NWBrowser.Result.Change(between: old, new)
        guard change != .identical else { return nil }
        told.byName[name] = new
        if let old { told.results.remove(old) }
        if let new { told.results.insert(new) }
        return change
    }

    private func result(_ name: DNSName, _ instance: Instance) -> NWBrowser.Result {
        NWBrowser.Result(
            endpoint: .service(
                name: String(decoding: name.firstLabel ?? [], as: UTF8.self),
                type: String(type.name.description.dropLast()), domain: "local.", interface: nil),
            interfaces: instance.interfaces.sorted { $0.index < $1.index },
            metadata: instance.text.map { .bonjour($0) } ?? .none)
    }
}
