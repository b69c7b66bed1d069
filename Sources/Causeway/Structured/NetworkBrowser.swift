internal import CausewaySystem
public import CausewayTypes

/// Watches for what a provider describes, such as Bonjour services.
///
/// Browsers of this kind are declared and not implemented: `run` ends in the state `.failed(.posix(.ENOTSUP))` and throws
/// that error.
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
        var handler: StateUpdateHandler?
    }

    package let provider: Provider
    package let parameters: NWParameters?
    private let progress = Guarded(Progress())

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
    public func run(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable ([Provider.Endpoint]) async throws -> Void
    ) async throws {
        try await fail() as Void
    }

    /// Browses, and calls a closure with all that is there at each change, until it answers with a value. Once only.
    public func run<Return>(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable ([Provider.Endpoint]) async throws ->
            NetworkBrowser<Provider>.RunResult<Return>
    ) async throws -> Return {
        try await fail()
    }

    /// What is looked for, and the state.
    public var debugDescription: String { "[browser for \(provider), \(progress.withLock { $0.state })]" }

    private func fail<Result>() async throws(NWError) -> Result {
        let failure = NWError.posix(.ENOTSUP)
        let handler = progress.withLock { progress -> StateUpdateHandler? in
            guard progress.state == .setup else { return nil }
            progress.state = .failed(failure)
            return progress.handler
        }
        await handler?(self, .failed(failure))
        throw failure
    }
}
