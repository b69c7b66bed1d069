internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem

/// Caches proxy scripts for as long as their servers allow. Concurrent requests for one script share a fetch.
///
/// Thread-safe.
final class PACStore: Sendable {
    typealias Outcome = Result<DocumentFetch.Document, RouteProblem>
    /// Creates a fetch without starting it. The started fetch calls the given closure once with the outcome, unless the
    /// fetch is cancelled first.
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
        let key: Key
        var fetch: (any PACFetching)?
        var askers: [UInt64: @Sendable (Outcome) -> Void] = [:]
    }

    private struct State: Sendable {
        var entries: [Key: Entry] = [:]
        var fetches: [UInt64: Fetch] = [:]
        /// The current fetch of each script, as a number. New requests for the script join this fetch. When it ends,
        /// its script is cached.
        ///
        /// A call of ``forget(partition:)`` removes fetches from this table. A removed fetch still answers the requests
        /// that have joined it, but its script is not cached.
        var current: [Key: UInt64] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        /// Removes a fetch that has ended, and returns it. `isCurrent` is `false` if the cache was cleared while the
        /// fetch was running.
        mutating func remove(_ number: UInt64) -> (fetch: Fetch, isCurrent: Bool)? {
            guard let fetch = fetches.removeValue(forKey: number) else { return nil }
            guard current[fetch.key] == number else { return (fetch, false) }
            current[fetch.key] = nil
            return (fetch, true)
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

    /// Removes the scripts of a privacy context. A script that is being fetched is not cached when it arrives.
    func forget(partition: UInt64) {
        state.withLock { state in
            state.entries = state.entries.filter { $0.key.partition != partition }
            state.current = state.current.filter { $0.key.partition != partition }
        }
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
        typealias Found = (document: DocumentFetch.Document?, asker: UInt64, fetch: UInt64, mustStart: Bool)
        let found = state.withLock { state -> Found in
            if let entry = state.entries[key], entry.expiry > System.now { return (entry.document, 0, 0, false) }
            let asker = state.nextNumber()
            let running = state.current[key]
            let number = running ?? state.nextNumber()
            if running == nil {
                state.fetches[number] = Fetch(key: key)
                state.current[key] = number
            }
            state.fetches[number]?.askers[asker] = completion
            return (nil, asker, number, running == nil)
        }
        if let document = found.document {
            completion(.success(document))
            return {}
        }
        let (asker, number) = (found.asker, found.fetch)
        if found.mustStart { begin(number, location, key.limits) }
        return { self.giveUp(asker, number) }
    }

    private func begin(_ number: UInt64, _ location: PACLocation, _ limits: PathLimits) {
        let fetch = fetcher(location, limits) { outcome in self.fetched(outcome, number) }
        let isWanted = state.withLock { state in
            guard state.fetches[number] != nil else { return false }
            state.fetches[number]?.fetch = fetch
            return true
        }
        if isWanted { fetch.start() }
    }

    private func fetched(_ outcome: Outcome, _ number: UInt64) {
        let askers = state.withLock { state -> [@Sendable (Outcome) -> Void] in
            guard let (fetch, isCurrent) = state.remove(number) else { return [] }
            if isCurrent, case .success(let document) = outcome { state.keep(document, fetch.key) }
            return Array(fetch.askers.values)
        }
        for asker in askers { asker(outcome) }
    }

    private func giveUp(_ asker: UInt64, _ number: UInt64) {
        let fetch = state.withLock { state -> (any PACFetching)? in
            guard state.fetches[number]?.askers.removeValue(forKey: asker) != nil,
                state.fetches[number]?.askers.isEmpty == true
            else { return nil }
            return state.remove(number)?.fetch.fetch
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
