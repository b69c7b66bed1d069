internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem

/// Caches proxy scripts for as long as their servers allow. Concurrent requests for one script share a fetch.
///
/// Thread-safe.
final class PACStore: Sendable {
    typealias Outcome = Result<DocumentFetch.Document, RouteProblem>
    /// Prepares a fetch. After its start, the fetch calls the closure once, unless it is cancelled first.
    typealias Fetcher =
        @Sendable (
            PACLocation, PathLimits, @escaping @Sendable (Outcome) -> Void
        ) -> any PACFetching

    private struct Key: Hashable {
        var url: String
        var limits: PathLimits
        /// The privacy context's identifier. Separate contexts do not share scripts.
        var partition: UInt64
    }

    private struct Entry {
        var document: DocumentFetch.Document
        var expiry: Duration
    }

    private struct Fetch {
        var fetch: (any PACFetching)?
        var number: UInt64
        var askers: [UInt64: @Sendable (Outcome) -> Void] = [:]
    }

    private struct State: Sendable {
        var entries: [Key: Entry] = [:]
        var fetches: [Key: Fetch] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        mutating func keep(_ document: DocumentFetch.Document, _ key: Key) {
            let seconds = min(document.freshness ?? PACStore.usualSeconds, PACStore.maximumSeconds)
            guard seconds > 0 else { return }
            entries[key] = Entry(document: document, expiry: System.now + .seconds(seconds))
            guard entries.count > PACStore.entryLimit else { return }
            if let first = entries.min(by: { $0.value.expiry < $1.value.expiry })?.key { entries[first] = nil }
        }
    }

    /// Maximum number of cached scripts. Each script has at most 1 MiB.
    private static let entryLimit = 16
    private static let usualSeconds = 300
    private static let maximumSeconds = 3_600

    private let fetcher: Fetcher
    private let state = LockedValue(State())

    /// - Parameter fetcher: Fetches a script over a connection. The store cannot open connections itself, because the connection classes
    ///   are in a higher layer.
    init(_ fetcher: @escaping Fetcher) { self.fetcher = fetcher }

    func forget(partition: UInt64) {
        state.withLock { state in state.entries = state.entries.filter { $0.key.partition != partition } }
    }

    /// Calls `completion` once with the script or an error, immediately if the script is cached. Returns a closure that cancels the
    /// request.
    func find(
        _ location: PACLocation, _ parameters: NWParameters,
        _ completion: @escaping @Sendable (Outcome) -> Void
    ) -> @Sendable () -> Void {
        let key = Key(
            url: location.url.absoluteString, limits: parameters.values.paths.normalized,
            partition: parameters.values.privacyContext.settings.partition)
        let (known, asker, mustStart) = state.withLock { state -> (DocumentFetch.Document?, UInt64, Bool) in
            if let entry = state.entries[key], entry.expiry > System.now { return (entry.document, 0, false) }
            let asker = state.nextNumber()
            let isNew = state.fetches[key] == nil
            if isNew { state.fetches[key] = Fetch(number: state.nextNumber()) }
            state.fetches[key]?.askers[asker] = completion
            return (nil, asker, isNew)
        }
        if let known {
            completion(.success(known))
            return {}
        }
        if mustStart { begin(key, location) }
        return { self.giveUp(asker, key) }
    }

    private func begin(_ key: Key, _ location: PACLocation) {
        guard let number = state.withLock({ $0.fetches[key]?.number }) else { return }
        let fetch = fetcher(location, key.limits) { outcome in self.fetched(outcome, key, number) }
        let isWanted = state.withLock { state in
            guard state.fetches[key]?.number == number else { return false }
            state.fetches[key]?.fetch = fetch
            return true
        }
        if isWanted { fetch.start() }
    }

    private func fetched(_ outcome: Outcome, _ key: Key, _ number: UInt64) {
        let askers = state.withLock { state -> [@Sendable (Outcome) -> Void] in
            guard let fetch = state.fetches[key], fetch.number == number else { return [] }
            state.fetches[key] = nil
            if case .success(let document) = outcome { state.keep(document, key) }
            return Array(fetch.askers.values)
        }
        for asker in askers { asker(outcome) }
    }

    private func giveUp(_ asker: UInt64, _ key: Key) {
        let fetch = state.withLock { state -> (any PACFetching)? in
            guard state.fetches[key]?.askers.removeValue(forKey: asker) != nil,
                state.fetches[key]?.askers.isEmpty == true
            else { return nil }
            return state.fetches.removeValue(forKey: key)?.fetch
        }
        fetch?.cancel()
    }
}

/// A fetch of one proxy script.
protocol PACFetching: AnyObject, Sendable {
    func start()
    /// Cancels the fetch. May be called from any thread. The completion handler is not called afterwards.
    func cancel()
}
