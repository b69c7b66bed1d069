import CausewayHTTP
import CausewayProtocols
import Dispatch

/// The HTTP engines in one run, and the connections that they make.
struct HTTPEngines {
    let log = HTTPConnectionLog()
    private let route: HTTPRoute
    private var engines: [HTTPOrigin: HTTPEngine] = [:]

    init(_ route: HTTPRoute) { self.route = route }

    /// Returns the engine of this origin. Each origin has its own engine, because the command line can fix the address
    /// of an origin. A shared engine could use a connection to this address for another origin.
    mutating func engine(for origin: HTTPOrigin) throws -> HTTPEngine {
        if let engine = engines[origin] { return engine }
        var configuration = HTTPEngine.Configuration()
        let parameters = try route.parameters(for: origin, log)
        configuration.makeParameters = { _ in parameters }
        let usesPriorKnowledge = route.usesPriorKnowledge
        configuration.usesPriorKnowledge = { _ in usesPriorKnowledge }
        let log = log
        configuration.connectionCreated = { log.add($0) }
        // A proxy that forwards requests looks up the URL's host and connects to the address found. If `--resolve`
        // specifies another address, use a tunnel through the proxy to the specified address.
        configuration.usesForwarding = destination(of: origin) == origin
        let engine = HTTPEngine(configuration)
        engines[origin] = engine
        return engine
    }

    /// Returns the origin to connect to instead of `origin`.
    func destination(of origin: HTTPOrigin) -> HTTPOrigin { route.destination(of: origin) }

    /// Ends the request if its connection is not ready in time.
    func watchConnect(_ feed: ResponseFeed) {
        guard let limit = route.connectTimeout else { return }
        let log = log
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.inSeconds) {
            guard log.latest?.state != .ready else { return }
            log.giveUp { feed.give(up: .cannotConnect(.posix(.ETIMEDOUT))) }
        }
    }
}
