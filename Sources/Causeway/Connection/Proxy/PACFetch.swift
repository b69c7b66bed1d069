internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import Dispatch
internal import FoundationEssentials

/// Fetches one proxy script without a proxy. Each redirect opens a new connection.
///
/// Requests and responses are handled on the fetch's queue. ``start()`` and ``cancel()`` may be called from any thread.
final class PACFetch: PACFetching {
    typealias Outcome = PACStore.Outcome

    private struct State {
        var location: PACLocation
        var connection: NWConnection?
        var fetch: DocumentFetch?
        var redirectionCount = 0
        var completion: (@Sendable (Outcome) -> Void)?
    }

    private static let redirectionLimit = 5
    private static let pieceLength = 64 << 10
    /// Time limit for the whole fetch, including redirects.
    private static let limit = Duration.seconds(10)
    /// The privacy context for fetching proxy scripts. It has no proxies. The default privacy context is not suitable:
    /// its proxy for the fetch may depend on the script that is being fetched.
    private static let context = NWParameters.PrivacyContext(description: "proxy scripts")

    private let limits: PathLimits
    private let state: LockedValue<State>
    private let queue = DispatchQueue(label: "causeway.proxy-script", target: .global())

    /// Creates a fetch of a proxy script.
    ///
    /// - Parameter limits: The interfaces that the fetch may use.
    init(_ location: PACLocation, _ limits: PathLimits, _ completion: @escaping @Sendable (Outcome) -> Void) {
        self.limits = limits
        state = LockedValue(State(location: location, completion: completion))
    }

    func start() {
        // Do not use a Dispatch timer here: such a timer needs file descriptors, and Dispatch ends the process if it cannot open them.
        _ = Engine.networkLoop.schedule(after: Self.limit) { [weak self] in self?.giveUp() }
        queue.async { self.ask() }
    }

    private func giveUp() {
        queue.async {
            self.end(.failure(RouteProblem(Failure(.posix(.ETIMEDOUT)), "its server did not answer in time")))
        }
    }

    /// Cancels the fetch. May be called from any thread. The completion is not called afterwards.
    func cancel() { take()?.connection.forceCancel() }

    /// Removes and returns the completion handler and the connection. Later calls return `nil`.
    private func take() -> (completion: (@Sendable (Outcome) -> Void), connection: Ending)? {
        state.withLock { state in
            guard let completion = state.completion.take() else { return nil }
            return (completion, Ending(connection: state.connection.take()))
        }
    }

    private func end(_ outcome: Outcome) {
        guard let (completion, connection) = take() else { return }
        connection.forceCancel()
        completion(outcome.mapError { RouteProblem($0.failure, "cannot fetch the proxy script: \($0.reason)") })
    }

    // MARK: One request

    private func ask() {
        let location = state.withLock { $0.location }
        let parameters = location.isSecure ? NWParameters.tls : NWParameters.tcp
        parameters.setPrivacyContext(Self.context)
        parameters.limitPaths(to: limits)
        guard let fetch = try? location.fetch() else { return end(.failure(Self.problem(.malformed))) }
        let connection = NWConnection(to: .url(location.url), using: parameters)
        connection.stateUpdateHandler = { [weak self, weak connection] change in
            guard let self, let connection else { return }
            self.changed(to: change, connection)
        }
        let isWanted = state.withLock { state in
            guard state.completion != nil else { return false }
            state.connection = connection
            state.fetch = fetch
            return true
        }
        guard isWanted else { return }
        connection.start(queue: queue)
    }

    private func changed(to change: NWConnection.State, _ connection: NWConnection) {
        switch change {
        case .ready:
            guard let request = state.withLock({ $0.fetch?.request }) else { return }
            connection.send(content: Data(request), completion: .contentProcessed { _ in })
            receive(connection)
        case .waiting(let error), .failed(let error):
            let reason = connection.tlsFailureReason ?? error.debugDescription
            end(.failure(RouteProblem(Failure(error), reason)))
        case .setup, .preparing, .cancelled: break
        }
    }

    private func receive(_ connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: Self.pieceLength) {
            [self] data, _, isComplete, error in
            let outcome = state.withLock { state -> DocumentFetch.Outcome? in
                guard state.connection === connection else { return nil }
                if let data, let outcome = state.fetch?.take([UInt8](data)) { return outcome }
                return isComplete || error != nil ? state.fetch?.end() : nil
            }
            if let outcome { return answered(outcome) }
            guard !isComplete, error == nil else { return }
            receive(connection)
        }
    }

    private func answered(_ outcome: DocumentFetch.Outcome) {
        switch outcome {
        case .document(let document): end(.success(document))
        case .elsewhere(let place): redirect(to: place)
        case .refused, .tooLong, .malformed: end(.failure(Self.problem(outcome)))
        }
    }

    private func redirect(to place: String) {
        let (location, count, connection) = state.withLock { state in
            state.redirectionCount += 1
            return (state.location, state.redirectionCount, state.connection.take())
        }
        connection?.forceCancel()
        guard count <= Self.redirectionLimit else {
            return end(.failure(RouteProblem(Failure(.posix(.ELOOP)), "its server redirects too often")))
        }
        do throws(NWError) {
            let next = try location.redirected(to: place)
            state.withLock { $0.location = next }
        } catch {
            return end(.failure(RouteProblem(Failure(error), "its server redirects to a URL that is not allowed")))
        }
        ask()
    }

    private static func problem(_ outcome: DocumentFetch.Outcome) -> RouteProblem {
        switch outcome {
        case .refused(let status): RouteProblem(Failure(.posix(.ENOENT)), "its server answered with status \(status)")
        case .tooLong: RouteProblem(Failure(.posix(.EFBIG)), "it is longer than 1 MiB")
        case .malformed, .document, .elsewhere:
            RouteProblem(Failure(.posix(.EPROTO)), "its server sent a malformed answer")
        }
    }
}

/// Holds the connection to cancel when a fetch ends, if there is one.
private struct Ending {
    var connection: NWConnection?

    func forceCancel() { connection?.forceCancel() }
}

extension PACStore {
    /// The proxy script store that all connections in the process share.
    static let shared = PACStore { location, limits, completion in
        PACFetch(location, limits, completion)
    }
}
