internal import CausewaySystem
public import CausewayTypes
internal import Dispatch

/// Watches for what a provider describes, such as Bonjour services.
///
/// ```swift
/// let printer = try await NetworkBrowser(for: .bonjour("_ipp._tcp")).run { found in
///     found.first.map { .finish($0) } ?? .continue
/// }
/// ```
///
/// Services are looked for by multicast DNS, as by ``NWBrowser``. A provider of the program's own fails with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 26, iOS 26.
public final class NetworkBrowser<Provider>: Sendable, CustomDebugStringConvertible where Provider: BrowserProvider {
    /// Called at each change of state.
    public typealias StateUpdateHandler =
        @isolated(any) @Sendable (NetworkBrowser<Provider>, NetworkBrowser<Provider>.State) -> Void

    /// Where a browser is in its life.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum State: Equatable, Sendable {
        /// Made and not started.
        case setup
        /// Browsing.
        case ready
        /// Ended by an error.
        case failed(NWError)
        /// Ended.
        case cancelled
        /// There is no usable network now.
        case waiting(NWError)
    }

    /// What a closure answers to what was found.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum RunResult<T> {
        /// Stop; `run` returns the value.
        case finish(T)
        /// Go on.
        case `continue`
    }

    private struct Progress: Sendable {
        var state = State.setup
        var hasRun = false
        var handler: StateUpdateHandler?
    }

    package let provider: Provider
    package let parameters: NWParameters?
    private let progress = LockedValue(Progress())

    /// Makes a browser.
    ///
    /// - Parameters:
    ///   - provider: What to look for.
    ///   - parameters: Where to look for it; `nil` for everywhere.
    public init(for provider: Provider, using parameters: NWParameters? = nil) {
        self.provider = provider
        self.parameters = parameters
    }

    /// Calls a closure at each change of state, in the isolation in which it was written.
    @discardableResult
    public func onStateUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (NetworkBrowser<Provider>, NetworkBrowser<Provider>.State) -> Void
    ) -> Self {
        progress.withLock { $0.handler = handler }
        return self
    }

    /// Browses, and calls a closure with all that is there at each change, until the task is cancelled or the browser
    /// fails. Once only.
    ///
    /// While the closure runs, changes are collected; then it is called with what is there by that time.
    ///
    /// - Throws: What the closure throws, why the browser failed, `.posix(.ECANCELED)` when the task was cancelled,
    ///   `.posix(.EALREADY)` the second time.
    public func run(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable ([Provider.Endpoint]) async throws -> Void
    ) async throws {
        let visit: Visitor<Void> = { found in
            try await handler(found)
            return .continue
        }
        try await browse(visit)
    }

    /// Browses, and calls a closure with all that is there at each change, until it answers with a value. Once only.
    ///
    /// - Throws: As the other.
    public func run<Return>(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable ([Provider.Endpoint]) async throws ->
            NetworkBrowser<Provider>.RunResult<Return>
    ) async throws -> Return {
        // SAFETY: `sending` is a promise to the compiler and nothing else. What the closure answers is handed over to the caller of this
        // function, who wrote the closure: what both share is theirs.
        try await browse(unsafeBitCast(handler, to: Visitor<Return>.self))
    }

    /// What is looked for, and the state.
    public var debugDescription: String { "[browser for \(provider), \(progress.withLock { $0.state })]" }
}

extension NetworkBrowser {
    fileprivate typealias Visitor<Return> =
        @isolated(any) @Sendable (sending [Provider.Endpoint]) async throws -> sending RunResult<Return>

    private enum Event: Sendable {
        case state(NWBrowser.State)
        case resultsChanged
    }

    fileprivate func browse<Return>(_ visit: @escaping Visitor<Return>) async throws -> Return {
        let isFirst = progress.withLock { progress in
            defer { progress.hasRun = true }
            return !progress.hasRun
        }
        guard isFirst else { throw NWError.posix(.EALREADY) }
        guard let bonjour = provider as? Bonjour else {
            await move(to: .failed(.posix(.ENOTSUP)))
            throw NWError.posix(.ENOTSUP)
        }
        let browser = NWBrowser(for: bonjour.descriptor, using: parameters ?? NWParameters())
        let (events, feed) = AsyncStream<Event>.makeStream()
        browser.stateUpdateHandler = { feed.yield(.state($0)) }
        browser.browseResultsChangedHandler = { _, _ in feed.yield(.resultsChanged) }
        browser.start(queue: DispatchQueue(label: "causeway.browser", target: .global()))
        let outcome: Result<Return, any Error>
        do {
            outcome = .success(try await follow(events, of: browser, visit))
        } catch {
            outcome = .failure(error)
        }
        browser.cancel()
        await end()
        return try outcome.get()
    }

    /// Ends by a value, an error, or the cancellation of the task, upon which there are no more events.
    private func follow<Return>(
        _ events: AsyncStream<Event>, of browser: NWBrowser, _ visit: @escaping Visitor<Return>
    ) async throws -> Return {
        var told: Set<NWBrowser.Result> = []
        for await event in events {
            switch event {
            case .state(let state):
                await move(to: State(state))
                if case .failed(let error) = state { throw error }
            case .resultsChanged:
                // Changes that came while the program was busy are one.
                let results = browser.browseResults
                guard results != told else { continue }
                told = results
                if case .finish(let value) = try await visit(Self.endpoints(results)) { return value }
            }
        }
        throw NWError.posix(.ECANCELED)
    }

    private static func endpoints(_ results: Set<NWBrowser.Result>) -> [Provider.Endpoint] {
        results.compactMap { try? Bonjour.Endpoint($0) }.sorted { $0.id < $1.id }.compactMap {
            $0 as? Provider.Endpoint
        }
    }

    private func move(to state: State) async {
        let handler = progress.withLock { progress in
            progress.state = state
            return progress.handler
        }
        await handler?(self, state)
    }

    private func end() async {
        if case .failed = progress.withLock({ $0.state }) { return }
        await move(to: .cancelled)
    }
}

extension NetworkBrowser.State {
    init(_ state: NWBrowser.State) {
        switch state {
        case .setup: self = .setup
        case .ready: self = .ready
        case .failed(let error): self = .failed(error)
        case .cancelled: self = .cancelled
        case .waiting(let error): self = .waiting(error)
        }
    }
}
