internal import CausewaySystem
internal import CausewayWire
public import CausewayTypes
public import Dispatch

/// Discovers services on the network and maintains the set of available services.
///
/// In the domain `local`, the browser uses multicast DNS (RFC 6762) on all interfaces that the parameters permit. The
/// results of an interface that becomes prohibited, for example because it becomes expensive, are removed. For other
/// domains the browser queries the host's DNS servers (RFC 6763) over permitted interfaces; these results have no
/// interface.
///
/// The browser fails with `.posix(.ENOTSUP)` for application services, and with `kDNSServiceErr_BadParam` for an
/// invalid type or domain.
///
/// All callbacks run on the queue given to ``start(queue:)``, in order. No callback follows `cancelled`. All members
/// may be used from any thread.
///
/// Counterpart: macOS 10.15, iOS 13.
public final class NWBrowser: CustomDebugStringConvertible, Sendable {
    /// Receives the new set of results and the changes since the previous call.
    typealias ResultsHandler = @Sendable (Set<NWBrowser.Result>, Set<NWBrowser.Result.Change>) -> Void

    /// The type and domain of the services to discover.
    public let descriptor: NWBrowser.Descriptor
    /// The parameters given to the initializer. They select the interfaces to use.
    public let parameters: NWParameters

    private let lifecycle = QueuedState(State.setup)
    private let results = LockedValue<Set<NWBrowser.Result>>([])
    private let resultsHandler = LockedValue<ResultsHandler?>(nil)
    private let browse = LockedValue<ServiceBrowse?>(nil)

    /// Creates a browser. It does nothing until ``start(queue:)`` is called.
    public init(for descriptor: NWBrowser.Descriptor, using parameters: NWParameters) {
        self.descriptor = descriptor
        self.parameters = parameters
    }

    /// Starts browsing. All callbacks run on `queue`. Only the first call has an effect.
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
        let search = ServiceBrowse(
            query, limits: parameters.values.paths, post: { lifecycle.call($0) },
            failed: { lifecycle.move(to: $0.map { .waiting($0) } ?? .ready) },
            { results, changes in self.found(results, changes) })
        browse.withLock { $0 = search }
        search.start()
        if lifecycle.hasEnded { search.stop() }
    }

    private func found(_ new: Set<NWBrowser.Result>, _ changes: Set<NWBrowser.Result.Change>) {
        results.withLock { $0 = new }
        resultsHandler.withLock { $0 }?(new, changes)
    }

    /// Stops browsing. The state `cancelled` is the final callback. A cancelled browser cannot be started again.
    public func cancel() {
        // End the life cycle first, and stop the search afterwards. A concurrent call of `start(queue:)` may not have
        // stored its search yet. That call then sees the ended life cycle, and stops its search itself.
        lifecycle.end(in: .cancelled) { [self] in browseResultsChangedHandler = nil }
        browse.withLock { $0.take() }?.stop()
    }

    /// The current state. May be read from any thread.
    public var state: NWBrowser.State { lifecycle.current }

    /// The queue passed to ``start(queue:)``; `nil` before the start.
    public var queue: DispatchQueue? { lifecycle.queue }

    /// The currently available services. May be read from any thread.
    public var browseResults: Set<NWBrowser.Result> { results.withLock { $0 } }

    /// Called on the browser's queue at each state change. Set this before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ newState: NWBrowser.State) -> Void)? {
        get { lifecycle.handler }
        set { lifecycle.handler = newValue }
    }

    /// Called on the browser's queue with all available services and the changes since the previous call.
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

    /// The descriptor and the state.
    public var debugDescription: String { "[browser for \(descriptor), \(state)]" }
}

extension NWBrowser {
    /// Selects the services to discover.
    ///
    /// Counterpart: macOS 10.15, iOS 13; application services macOS 13, iOS 16.
    public enum Descriptor: Sendable {
        /// Instances of a Bonjour service type, for example `_ipp._tcp`. A domain of `nil` means `local`.
        case bonjour(type: String, domain: String?)
        /// Like ``bonjour(type:domain:)``. In addition, each result's metadata contains the service's TXT record.
        case bonjourWithTXTRecord(type: String, domain: String?)
        /// Application services with this name. Not supported: the browser fails with `.posix(.ENOTSUP)`.
        case applicationService(name: String)
    }

    /// The state of a browser.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum State: Equatable, Sendable {
        /// The browser is not started.
        case setup
        /// The browser is browsing and reports its results.
        case ready
        /// An error ended the browser. The program must still cancel it.
        case failed(NWError)
        /// The browser has ended. No callback follows.
        case cancelled
        /// None of a unicast domain's DNS servers replies, for example because there is no network. The browser
        /// continues to send queries. Never reported for the domain `local`.
        ///
        /// Counterpart: macOS 11, iOS 14.
        case waiting(NWError)
    }
}

extension NWBrowser.Descriptor {
    /// The DNS query that finds the services.
    ///
    /// - Throws: `.posix(.ENOTSUP)` for application services, `kDNSServiceErr_BadParam` for an invalid type or domain.
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
