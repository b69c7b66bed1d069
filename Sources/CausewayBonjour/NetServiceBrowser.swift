internal import Causeway
internal import CausewaySystem
internal import Dispatch
public import Foundation

/// Browses for services of one type, or for domains, and reports changes to its delegate.
///
/// The delegate is called in a run loop: by default in the creating thread's run loop, in the default mode; change this with
/// ``schedule(in:forMode:)``. A browser performs one search at a time.
///
/// Counterpart: `NetServiceBrowser`, macOS 10.2, iOS 2.
open class NetServiceBrowser: NSObject {
    private enum Search {
        case services(NWBrowser)
        case domains
    }

    /// Receives all events. The delegate is not retained.
    open weak var delegate: (any NetServiceBrowserDelegate)?
    /// This property is stored, but it has no effect.
    open var includesPeerToPeer = false

    private var search: Search?
    /// The number of the current search. Events with another number belong to earlier searches and are ignored.
    private var number = 0
    private var found: [String: NetService] = [:]
    private lazy var events = RunLoopEvents<NetServiceBrowser>(self)

    /// Creates a browser that is scheduled in the calling thread's run loop, in the default mode.
    public override init() {
        super.init()
        events.schedule(in: .current, .default)
    }

    deinit {
        end()
        events.end()
    }

    /// Adds a run loop in which the delegate is called.
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: aRunLoop, mode) }

    /// Removes a run loop that ``schedule(in:forMode:)`` added, or the initial run loop.
    open func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: aRunLoop, mode) }

    // MARK: Searching

    /// Searches for domains to browse. Finds only `local.`.
    open func searchForBrowsableDomains() { searchForDomains() }

    /// Searches for domains to publish in. Finds only `local.`.
    open func searchForRegistrationDomains() { searchForDomains() }

    private func searchForDomains() {
        guard begin(.domains) else { return }
        events.add { browser, moreComing in
            let browser = browser.value
            guard case .domains = browser.search else { return }
            browser.delegate?.netServiceBrowser(browser, didFindDomain: "local.", moreComing: moreComing)
        }
    }

    /// Browses for services of a type until ``stop()``.
    ///
    /// - Parameters:
    ///   - type: The type, such as `_http._tcp.`; with a subtype, `_http._tcp,_printer`.
    ///   - domainString: `local.`, or empty for the default domain, which is also `local.`.
    open func searchForServices(ofType type: String, inDomain domainString: String) {
        let browser = NWBrowser(
            for: .bonjour(type: type, domain: domainString.isEmpty ? nil : domainString), using: NWParameters())
        guard begin(.services(browser)) else { return }
        let (events, number) = (events, number)
        browser.stateUpdateHandler = { state in
            guard case .failed = state else { return }
            events.add { object, _ in object.value.failed(number) }
        }
        browser.browseResultsChangedHandler = { _, changes in
            events.add(
                changes.sorted { $0.endpointText < $1.endpointText }.map { change in
                    { object, moreComing in object.value.changed(change, number, moreComing) }
                })
        }
        browser.start(queue: DispatchQueue(label: "causeway.net-service-browser", target: .global()))
    }

    /// Stops the search, and reports this to the delegate.
    open func stop() {
        guard end() else { return }
        events.add { browser, _ in browser.value.delegate?.netServiceBrowserDidStopSearch(browser.value) }
    }

    private func begin(_ search: Search) -> Bool {
        guard self.search == nil else {
            refuse(.activityInProgress)
            return false
        }
        self.search = search
        events.add { browser, _ in browser.value.delegate?.netServiceBrowserWillSearch(browser.value) }
        return true
    }

    @discardableResult
    private func end() -> Bool {
        guard let ended = search.take() else { return false }
        if case .services(let browser) = ended { browser.cancel() }
        number += 1
        found = [:]
        return true
    }

    private func refuse(_ code: NetService.ErrorCode) {
        events.add { browser, _ in
            browser.value.delegate?.netServiceBrowser(
                browser.value, didNotSearch: NetService.dictionary(code))
        }
    }

    // MARK: In the run loop

    private func failed(_ number: Int) {
        guard number == self.number else { return }
        end()
        delegate?.netServiceBrowser(self, didNotSearch: NetService.dictionary(.badArgumentError))
    }

    private func changed(_ change: NWBrowser.Result.Change, _ number: Int, _ moreComing: Bool) {
        guard number == self.number else { return }
        switch change {
        case .added(let result):
            guard case .service(let name, let type, let domain, _) = result.endpoint else { return }
            let service = NetService(domain: domain, type: type + ".", name: name)
            found[name] = service
            delegate?.netServiceBrowser(self, didFind: service, moreComing: moreComing)
        case .removed(let result):
            guard case .service(let name, _, _, _) = result.endpoint, let service = found.removeValue(forKey: name)
            else { return }
            delegate?.netServiceBrowser(self, didRemove: service, moreComing: moreComing)
        // Do not report a change in a known service. At most, the service's interfaces have changed, and `NetService`
        // has no property for them.
        case .changed, .identical: break
        }
    }
}

extension NWBrowser.Result.Change {
    /// The endpoint of the change, as text. Changes that occur together are sorted by this text.
    fileprivate var endpointText: String {
        switch self {
        case .added(let result), .removed(let result), .changed(_, let result, _): "\(result.endpoint)"
        case .identical: ""
        }
    }
}
