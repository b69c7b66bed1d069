internal import CausewaySystem
public import CausewayTypes
internal import Dispatch

/// Discovers endpoints described by a provider, such as Bonjour services.
///
/// ```swift
/// let printer = try await NetworkBrowser(for: .bonjour("_ipp._tcp")).run { found in
///     found.first.map { .finish($0) } ?? .continue
/// }
/// ```
///
/// Services are discovered with multicast DNS, as by ``NWBrowser``. A program-defined provider type fails with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 26, iOS 26.
public final class NetworkBrowser<Provider>: Sendable, CustomDebugStringConvertible where Provider: BrowserProvider {
    /// Called at each state change.
    public typealias StateUpdateHandler =
        @isolated(any) @Sendable (NetworkBrowser<Provider>, NetworkBrowser<Provider>.State) -> Void

    /// The states of a browser.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum State: Equatable, Sendable {
        /// The browser has been created and not started.
        case setup
        /// The browser is browsing.
        case ready
        /// The browser ended with an error.
        case failed(NWError)
        /// The browser has ended.
        case cancelled
        /// None of a unicast domain's DNS servers replies. The browser continues to send queries.
        case waiting(NWError)
    }

    /// The result of a closure passed to `run`.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum RunResult<T> {
        /// Stop browsing; `run` returns the value.
        case finish(T)
        /// Continue browsing.
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

    /// Creates a browser.
    ///
    /// - Parameters:
    ///   - provider: The endpoints to discover.
    ///   - parameters: Selects the interfaces to browse on; `nil` for all interfaces.
    public init(for provider: Provider, using parameters: NWParameters? = nil) {
        self.provider = provider
        self.parameters = parameters
    }

    /// Sets a closure that is called at each state change, in the closure's own isolation.
    @discardableResult
    public func onStateUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (NetworkBrowser<Provider>, NetworkBrowser<Provider>.State) -> Void
    ) -> Self {
        progress.withLock { $0.handler = handler }
        return self
    }

    /// Browses until the task is cancelled or the browser fails. Each time the results change, calls a closure with all current results.
    /// Can be called only once.
    ///
    /// If the results change while the closure runs, the closure is called once more afterwards, with the latest
    /// results.
    ///
    /// - Throws: The closure's error; the browser's error; `.posix(.EALREADY)` for a second call.
    ///
    /// Cancellation: stops browsing and throws `.posix(.ECANCELED)`.
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

    /// Browses until a closure returns a value. Each time the results change, calls the closure with all current results. Can be called
    /// only once.
    ///
    /// - Throws: The closure's error; the browser's error; `.posix(.EALREADY)` for a second call.
    ///
    /// Cancellation: stops browsing and throws `.posix(.ECANCELED)`.
    public func run<Return>(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable ([Provider.Endpoint]) async throws ->
            NetworkBrowser<Provider>.RunResult<Return>
    ) async throws -> Return {
        // SAFETY: the cast only adds `sending` to the closure's type. This affects only checks by the compiler. The
        // caller of `run` supplies the closure and receives its result. No other code shares the result.
        try await browse(unsafeBitCast(handler, to: Visitor<Return>.self))
    }

    /// The provider and the state.
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

    /// Handles events until the closure returns a value or an error occurs. Task cancellation ends the sequence of
    /// events.
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
                // If the results change several times while the closure runs, the closure is called only once more.
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
