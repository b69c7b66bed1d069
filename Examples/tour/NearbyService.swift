import Causeway
import Dispatch

/// A listener that Bonjour announces, and a client that finds it by its type and connects to it by its name.
enum NearbyService {
    private static let type = "_causeway-tour._tcp"
    /// The time limit for finding the service. An announced service answers within a second.
    private static let limit = DispatchTimeInterval.seconds(6)

    static func run() async throws {
        let name = "tour \(UInt32.random(in: 0...UInt32.max))"
        let listener = try NWListener(using: .tcp)
        listener.service = NWListener.Service(name: name, type: type)
        Exchange.echo(listener, isDatagram: false)
        try await listener.becomeReady()
        defer { listener.cancel() }
        guard let found = await find(name) else {
            print(Exchange.row("Bonjour", "skipped: no interface of this host carries multicast DNS"))
            return
        }
        let client = NWConnection(to: found, using: .tcp)
        defer { client.cancel() }
        let result = try await Exchange.verify(client, isDatagram: false)
        print(Exchange.row("Bonjour, by name", result))
    }

    /// Returns the endpoint of the service; `nil` if it is not found in time.
    private static func find(_ name: String) async -> NWEndpoint? {
        let queue = DispatchQueue(label: "tour.browser")
        let browser = NWBrowser(for: .bonjour(type: type, domain: nil), using: .tcp)
        return await withCheckedContinuation { continuation in
            // All handlers run on `queue`, one at a time. The first call of `finish` determines the result.
            browser.browseResultsChangedHandler = { results, _ in
                for result in results {
                    guard case .service(name, _, _, _) = result.endpoint else { continue }
                    return finish(with: result.endpoint)
                }
            }
            browser.stateUpdateHandler = { state in
                if case .failed = state { finish(with: nil) }
            }
            queue.asyncAfter(deadline: .now() + limit) { finish(with: nil) }
            browser.start(queue: queue)

            @Sendable func finish(with endpoint: NWEndpoint?) {
                guard browser.browseResultsChangedHandler != nil else { return }
                browser.browseResultsChangedHandler = nil
                browser.stateUpdateHandler = nil
                browser.cancel()
                continuation.resume(returning: endpoint)
            }
        }
    }
}
