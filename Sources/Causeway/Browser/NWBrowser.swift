internal import CausewaySystem
internal import CausewayWire
public import CausewayTypes
public import Dispatch

/// Watches for services on the network and keeps the set of those that are there.
///
/// Services are looked for by multicast DNS on every interface that the parameters allow, in other domains than `local` by the host's
/// name servers (RFC 6763), whose results have no interface. Application services fail with `.posix(.ENOTSUP)`, a type or domain that is
/// none fails with `kDNSServiceErr_BadParam`.
///
/// Every callback comes on the queue given to ``start(queue:)``, in order, `cancelled` last.
///
/// Counterpart: macOS 10.15, iOS 13.
public final class NWBrowser: CustomDebugStringConvertible, Sendable {
    /// What is called with the new set of results, and with what has changed in it.
    typealias ResultsHandler = @Sendable (Set<NWBrowser.Result>, Set<NWBrowser.Result.Change>) -> Void

    /// What to look for.
    public let descriptor: NWBrowser.Descriptor
    /// Where to look for it: which interfaces to use.
    public let parameters: NWParameters

    private let lifecycle = QueuedState(State.setup)
    private let results = LockedValue<Set<NWBrowser.Result>>([])
    private let resultsHandler = LockedValue<ResultsHandler?>(nil)
    private let browse = LockedValue<ServiceBrowse?>(nil)

    /// Makes a browser. Nothing happens until ``start(queue:)``.
    public init(for descriptor: NWBrowser.Descriptor, using parameters: NWParameters) {
        self.descriptor = descriptor
        self.parameters = parameters
    }

    /// Begins to browse. `queue` takes every callback from now on. Only the first call counts.
    public func start(queue: DispatchQueue) {
        guard lifecycle.start(on: queue) else { return }
        do throws(NWError) {
            let search = try descriptor.search
            lifecycle.move(to: .ready)
            begin(search)
        } catch {
            lifecycle.move(to: .failed(error))
        }
    }

    private func begin(_ query: ServiceBrowse.Query) {
        let lifecycle = lifecycle
        let parameters = parameters
        let search = ServiceBrowse(
            query, required: parameters.requiredInterface, allows: { parameters.allows($0) },
            post: { lifecycle.call($0) }, failed: { lifecycle.move(to: $0.map { .waiting($0) } ?? .ready) },
            { results, changes in self.found(results, changes) })
        browse.withLock { $0 = search }
        search.start()
        if lifecycle.hasEnded { search.stop() }
    }

    private func found(_ new: Set<NWBrowser.Result>, _ changes: Set<NWBrowser.Result.Change>) {
        results.withLock { $0 = new }
        resultsHandler.withLock { $0 }?(new, changes)
    }

    /// Ends browsing; `cancelled` is the last callback. A browser cannot be started again.
    public func cancel() {
        // First the end: a start on another thread, which has not said yet what it began, stops that when it sees it.
        lifecycle.end(in: .cancelled) { [self] in browseResultsChangedHandler = nil }
        browse.withLock { $0.take() }?.stop()
    }

    /// The current state. Readable from any thread.
    public var state: NWBrowser.State { lifecycle.current }

    /// The queue given to ``start(queue:)``; `nil` before.
    public var queue: DispatchQueue? { lifecycle.queue }

    /// The services that are there now.
    public var browseResults: Set<NWBrowser.Result> { results.withLock { $0 } }

    /// Called at each change of state. Set it before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ newState: NWBrowser.State) -> Void)? {
        get { lifecycle.handler }
        set { lifecycle.handler = newValue }
    }

    /// Called with all services that are there, and with what has changed since the last call.
    @preconcurrency public var browseResultsChangedHandler:
        (@Sendable (_ newResults: Set<NWBrowser.Result>, _ changes: Set<NWBrowser.Result.Change>) -> Void)?
    {
        get { resultsHandler.withLock { $0 } }
        set {
            let old = resultsHandler.withLock { handler in
                defer { handler = newValue }
                return handler
            }
            withExtendedLifetime(old) {}
        }
    }

    /// What is looked for, and the state.
    public var debugDescription: String { "[browser for \(descriptor), \(state)]" }
}

extension NWBrowser {
    /// What to look for.
    ///
    /// Counterpart: macOS 10.15, iOS 13; application services macOS 13, iOS 16.
    public enum Descriptor: Sendable {
        /// Instances of a Bonjour service type, such as `_ipp._tcp`. A domain of `nil` means the default ones.
        case bonjour(type: String, domain: String?)
        /// The same, with the TXT record of each in the metadata of its result.
        case bonjourWithTXTRecord(type: String, domain: String?)
        /// Application services of a name.
        case applicationService(name: String)
    }

    /// Where a browser is in its life.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum State: Equatable, Sendable {
        /// Made and not started.
        case setup
        /// Browsing. Results come in this state only.
        case ready
        /// Ended by an error. The program still has to cancel it.
        case failed(NWError)
        /// Ended. Nothing more is delivered.
        case cancelled
        /// There is no usable network now, or no name server of a unicast domain answers. Asking goes on.
        ///
        /// Counterpart: macOS 11, iOS 14.
        case waiting(NWError)
    }
}

extension NWBrowser.Descriptor {
    /// What to ask for.
    fileprivate var search: ServiceBrowse.Query {
        get throws(NWError) {
            let (type, domain, wantsText) =
                switch self {
                case .bonjour(let type, let domain): (type, domain, false)
                case .bonjourWithTXTRecord(let type, let domain): (type, domain, true)
                case .applicationService: throw .posix(.ENOTSUP)
                }
            let parsed = try NWEndpoint.serviceDomain(type, domain)
            return ServiceBrowse.Query(type: parsed.type, domain: parsed.domain, wantsText: wantsText)
        }
    }
}

extension NWParameters {
    /// Whether an interface may be used, by the parameters.
    fileprivate func allows(_ interface: NWInterface) -> Bool {
        if let required = requiredInterface, required != interface { return false }
        if requiredInterfaceType != .other, requiredInterfaceType != interface.type { return false }
        if prohibitedInterfaces?.contains(interface) == true { return false }
        return prohibitedInterfaceTypes?.contains(interface.type) != true
    }
}
