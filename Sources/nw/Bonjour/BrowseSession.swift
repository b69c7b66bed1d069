import Causeway
import CausewayRuntime
import CausewayTypes
import CausewayWire
import Dispatch
import FoundationEssentials
import Synchronization

/// One run of `nw browse`: browses one type or all types, and resolves the services if the options require it.
final class BrowseSession: Sendable {
    enum Update: Sendable {
        case changes([NWBrowser.Result.Change])
        /// A service was resolved, or its host, port or addresses changed.
        case placed(FoundService)
    }

    private struct State: ~Copyable {
        var browsers: [String: NWBrowser] = [:]
        var lookups: [NWEndpoint: ServiceLookup] = [:]
        var types: RecordQuestion?
        var hasEnded = false
    }

    /// Maximum number of service types browsed at once. This limits the queries if a host announces random types.
    private static let typeLimit = 256
    /// Maximum number of services resolved at once.
    private static let lookupLimit = 1_024

    let updates: AsyncThrowingStream<Update, any Error>
    private let feed: AsyncThrowingStream<Update, any Error>.Continuation
    private let parameters: NWParameters
    private let domain: DNSName
    private let wantsText: Bool
    private let wantsPlaces: Bool
    private let queue = DispatchQueue(label: "nw-browse")
    private let state = Mutex(State())

    init(_ parameters: NWParameters, domain: DNSName, wantsText: Bool, wantsPlaces: Bool) {
        self.parameters = parameters
        self.domain = domain
        self.wantsText = wantsText
        self.wantsPlaces = wantsPlaces
        (updates, feed) = AsyncThrowingStream.makeStream()
    }

    /// Ends the ``updates`` sequence without an error.
    func finish() { feed.finish() }

    func stop() {
        let (browsers, lookups, types) = state.withLock { state in
            state.hasEnded = true
            return (Array(state.browsers.values), Array(state.lookups.values), state.types)
        }
        for browser in browsers { browser.cancel() }
        for lookup in lookups { lookup.end() }
        types?.stop()
        feed.finish()
    }

    /// Browses services of one type.
    func search(_ type: String) {
        let descriptor: NWBrowser.Descriptor =
            wantsText
            ? .bonjourWithTXTRecord(type: type, domain: domain.description)
            : .bonjour(type: type, domain: domain.description)
        let browser = NWBrowser(for: descriptor, using: parameters)
        let isNew = state.withLock { state in
            guard !state.hasEnded, state.browsers[type] == nil, state.browsers.count < Self.typeLimit else {
                return false
            }
            state.browsers[type] = browser
            return true
        }
        guard isNew else { return }
        browser.stateUpdateHandler = { [feed] state in
            switch state {
            case .failed(let error): feed.finish(throwing: CommandFailure("cannot browse \(type)", error))
            case .waiting(let error): printError("nw: browse: waiting to browse \(type): \(describe(error))")
            case .setup, .ready, .cancelled: break
            }
        }
        browser.browseResultsChangedHandler = { [self] _, changes in
            feed.yield(.changes(Array(changes)))
            if wantsPlaces { for change in changes { follow(change) } }
        }
        browser.start(queue: queue)
    }

    /// Browses services of every type that a host announces (RFC 6763 §9).
    func searchAllTypes() {
        guard let name = DNSName("_services._dns-sd._udp" as String)?.appending(domain) else { return }
        let question = RecordQuestion(name, .ptr, on: parameters.requiredInterface) { [self] changes in
            for case .name(let target) in changes.added.map(\.data) {
                guard let type = DNSName(labels: target.labels.prefix(2)), target.droppingFirst(2) == domain else {
                    continue
                }
                queue.async { self.search(String(type.description.dropLast())) }
            }
        }
        state.withLock { $0.types = question }
    }

    // MARK: Resolving services

    private func follow(_ change: NWBrowser.Result.Change) {
        switch change {
        case .added(let result): if let service = FoundService(result) { place(service) }
        case .removed(let result): state.withLock { $0.lookups.removeValue(forKey: result.endpoint) }?.end()
        case .changed, .identical: break
        }
    }

    private func place(_ service: FoundService) {
        guard let instance = service.instance else { return }
        let lookup = ServiceLookup(instance, wants: .place, on: parameters.requiredInterface) { [feed] place in
            var service = service
            service.place = place
            service.text = place.text.map { NWTXTRecord(Data($0)) } ?? service.text
            if place.host != nil, !place.addresses.isEmpty { feed.yield(.placed(service)) }
        }
        let isNew = state.withLock { state in
            guard !state.hasEnded, state.lookups[service.endpoint] == nil, state.lookups.count < Self.lookupLimit
            else { return false }
            state.lookups[service.endpoint] = lookup
            return true
        }
        if isNew { lookup.begin() }
    }
}
