import CausewayHTTP
import CausewayProtocols
import Dispatch

/// Creates the HTTP engines for one command, and logs the connections that they open.
struct HTTPEngines {
    let log = HTTPConnectionLog()
    private let route: HTTPRoute
    private var engines: [HTTPOrigin: HTTPEngine] = [:]

    init(_ route: HTTPRoute) { self.route = route }

    /// Returns the engine for this origin. Each origin has its own engine, because the command line can set an origin's
    /// address. A shared engine could use a connection to this address for another origin.
    mutating func engine(for origin: HTTPOrigin) throws -> HTTPEngine {
        if let engine = engines[origin] { return engine }
        var configuration = HTTPEngine.Configuration()
        let parameters = try route.parameters(for: origin, log)
        configuration.makeParameters = { _ in parameters }
        let usesPriorKnowledge = route.usesPriorKnowledge
        configuration.usesPriorKnowledge = { _ in usesPriorKnowledge }
        let log = log
        configuration.connectionCreated = { log.add($0) }
        // A forwarding proxy looks up the host of the URL, and connects to the address that it finds. `--resolve` may
        // specify another address. In that case, do not use forwarding; use a tunnel through the proxy to the specified
        // address.
        configuration.usesForwarding = destination(of: origin) == origin
        let engine = HTTPEngine(configuration)
        engines[origin] = engine
        return engine
    }

    /// Returns the origin to which requests for `origin` connect instead.
    func destination(of origin: HTTPOrigin) -> HTTPOrigin { route.destination(of: origin) }

    /// Ends the request with an error if its connection is not ready within the time limit.
    func watchConnect(_ feed: ResponseFeed) {
        guard let limit = route.connectTimeout else { return }
        let log = log
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.inSeconds) {
            guard log.latest?.state != .ready else { return }
            log.giveUp { feed.give(up: .cannotConnect(.posix(.ETIMEDOUT))) }
        }
    }
}
