internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

/// A load whose exchanges can use proxies that demand credentials.
protocol ProxiedLoad: DrivenLoad, ProxyUser {}

extension ProxiedLoad {
    func withProxyAccess<Result: Sendable>(_ body: (inout ProxyAccess) -> Result) -> Result {
        withAccess { $0.withProxy(body) }
    }

    func connectAgain(isNew: Bool) {
        if isNew { withProxyAccess { $0.needsNewConnection = true } }
        sendAgain()
    }
}

/// Handles a proxy's refusal of a load's current exchange: uses the session's credential, or asks the program.
struct ProxiedExchange: Sendable {
    let load: any ProxiedLoad

    /// The proxy that refused the current request or its connection; `nil` if no proxy has refused.
    private var refusedProxy: RefusedProxy? {
        guard let (origin, start) = load.withState({ $0.proxyUse }) else { return nil }
        return load.network.refusedProxy(of: origin, since: start)
    }

    /// Returns whether a response comes from the forwarding proxy itself, not from the server, and demands another
    /// credential.
    func isRefusal(_ head: HTTPResponseHead) -> Bool {
        guard head.status == 407 || head.status == 401 else { return false }
        return head.status == 407 || !head.fields.contains("WWW-Authenticate") && refusedProxy != nil
    }

    /// Handles a response in which a proxy demands a credential. Called before the response is delivered. If there is
    /// no credential, the response is delivered.
    func challenged(_ response: HTTPURLResponse) {
        guard let proxy = refusedProxy else { return load.deliverHeld() }
        let obstacle = load.network.obstacle(of: proxy)
        load.answer(
            ProxyDemand(proxy: proxy, response: response) {
                guard let obstacle else { return load.deliverHeld() }
                load.fail(
                    LoadFailure(
                        .connectionRefused, underlying: NWError.posix(.EACCES),
                        details: [LoadFailure.reasonKey: obstacle]))
            })
    }

    /// Handles a failed connection attempt, if a proxy has already demanded a credential in this exchange. The failure
    /// can come from a different proxy that was tried after this demand.
    ///
    /// - Returns: `false` if the failure is not a failed connection attempt, or if no proxy has demanded a credential.
    func isAnswered(_ failure: HTTPFailure) -> Bool {
        guard case .cannotConnect = failure, let proxy = refusedProxy else { return false }
        let step = load.withState { $0.recoveryFound() }
        load.perform(step)
        guard case .decide = step.action else { return true }
        var reason = LoadFailure(failure, rejection: nil, load.request)
        if let obstacle = load.network.obstacle(of: proxy) { reason.details[LoadFailure.reasonKey] = obstacle }
        let ending = reason
        let error = ending.urlError(for: load.request.url)
        load.answer(ProxyDemand(proxy: proxy, error: error) { load.fail(ending) })
        return true
    }

    /// Ends an exchange that waits for connectivity, if the reason is a proxy that demands a credential. The demand is
    /// handled after the exchange has ended.
    ///
    /// Returns `false` if the exchange waits for another reason, or has already ended.
    func endsWaiting(for reason: NWError) -> Bool {
        guard case .posix(.EACCES) = reason, refusedProxy != nil,
            let handle = load.withState({ $0.waitRefused(.cannotConnect(reason)) })
        else { return false }
        handle.cancel()
        return true
    }
}
