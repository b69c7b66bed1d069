internal import CausewaySystem
public import CausewayURLLoading
public import Foundation

/// A client for one HTTP server: base URL, default header fields, typed responses and failure policies, over a `URLSession`.
///
/// ```swift
/// let client = try HTTPClient(baseURL: URL(string: "https://api.example/v1")!)
/// let user: User = try await client.get("users/\(name)")
/// let found: [User] = try await client.get("users", query: ["city": "Plzeň", "limit": 20])
/// let stored: User = try await client.post("users", body: .json(User(name: "Ann")))
/// ```
///
/// A client can be used from any task, and is made once per server: as a `static let`, or as a value that is passed on. Its session is
/// invalidated when the client is released and its requests have ended.
public final class HTTPClient: Sendable {
    /// A function that sends a request and loads the response content into memory. Tests supply such a function in
    /// place of the session.
    typealias DataLoader = @Sendable (URLRequest, RequestBody.Source) async throws -> (Data, HTTPURLResponse)

    /// The settings.
    public let configuration: Configuration
    /// The session for the requests.
    public let session: URLSession
    let base: BaseURL
    let clock: any Clock<Duration>
    let network: NetworkWatch
    let running = Activity()
    let broadcast = Broadcast<ClientEvent>()
    let sharedWork = SharedWork<PreparedRequest, Exchange<Data>>(runner: .firstCaller)
    let gate: RequestGate?
    private let replacement: DataLoader?
    let recent = LockedValue(RecentRequests())

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: An `http` or `https` URL. Request paths are appended to its path, whether or not that ends with a slash.
    ///   - configuration: The settings. Later changes to the session configuration have no effect.
    ///   - delegate: The session's delegate, for example for challenges; `nil` for none.
    /// - Throws: ``HTTPClientError/Code/invalidRequest`` if the URL is not an absolute `http` or `https` URL.
    public convenience init(
        baseURL: URL, configuration: Configuration = Configuration(), delegate: (any URLSessionDelegate)? = nil
    ) throws(HTTPClientError) {
        let session = URLSession(configuration: configuration.session, delegate: delegate, delegateQueue: nil)
        try self.init(
            baseURL: baseURL, configuration: configuration, session: session, loader: nil, clock: ContinuousClock(),
            reachability: nil)
    }

    init(
        baseURL: URL, configuration: Configuration, session: URLSession, loader: DataLoader?,
        clock: any Clock<Duration>,
        reachability: (any ReachabilitySource)?
    ) throws(HTTPClientError) {
        guard let base = BaseURL(baseURL) else {
            throw HTTPClientError(.invalidRequest, "the base URL is not an absolute http or https URL")
        }
        self.base = base
        self.configuration = configuration
        self.session = session
        self.clock = clock
        replacement = loader
        let limits = configuration.concurrencyLimits
        let gate = limits.map { _ in RequestGate(limit: 1) }
        network = NetworkWatch(reachability ?? SystemReachability(host: baseURL.host() ?? "")) { now in
            if let limits { gate?.setLimit(limits.limit(on: now)) }
        }
        self.gate = gate
        // Starting the network watch also calls the closure above. That closure sets the limit of `gate`.
        if limits != nil { network.start() }
    }

    deinit { session.finishTasksAndInvalidate() }

    /// The base URL.
    public var baseURL: URL { base.url }

    // MARK: Observation

    /// The network state on the route to the server. A client does not check this state before it sends: see
    /// ``Reachability``.
    public var reachability: Reachability { network.current }

    /// The current network state, and then each change. A slow reader gets the latest state.
    public var reachabilityUpdates: AsyncStream<Reachability> { network.updates() }

    /// The number of the client's calls in progress.
    public var activeCallCount: Int { running.count }

    /// The current number of calls in progress, and then each change, for an activity indicator. A slow reader gets the
    /// latest number.
    public var activity: AsyncStream<Int> { running.updates() }

    /// The client's events from now on. A slow reader misses the oldest events: at most 256 are buffered.
    public var events: AsyncStream<ClientEvent> { broadcast.stream(capacity: 256) }

    // MARK: Loading

    /// Loads content into memory.
    func loadData(
        _ request: URLRequest, _ source: RequestBody.Source, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> (Data, HTTPURLResponse) {
        if let replacement { return try await replacement(request, source) }
        if progress != nil || configuration.maximumContentLength != nil {
            let transfer = Transfer(limit: configuration.maximumContentLength, progress: progress)
            guard case (.data(let data), let response) = try await transfer.run(task(for: request, source)) else {
                throw URLError(.badServerResponse)
            }
            return (data, response)
        }
        let (data, response) =
            switch source {
            case .none, .data: try await session.data(for: request)
            case .file(let url): try await session.upload(for: request, fromFile: url)
            case .form(let form): try await session.upload(for: request, from: form)
            }
        guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (data, http)
    }

    private func task(for request: URLRequest, _ source: RequestBody.Source) -> URLSessionTask {
        switch source {
        case .none: session.dataTask(with: request)
        case .data(let data): session.uploadTask(with: request, from: data)
        case .file(let url): session.uploadTask(with: request, fromFile: url)
        case .form(let form): session.uploadTask(with: request, from: form)
        }
    }
}
