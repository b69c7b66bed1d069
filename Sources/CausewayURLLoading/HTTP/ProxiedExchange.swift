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

    /// Whether a response that arrived through a forwarding proxy is the proxy's own demand for another credential.
    func isRefusal(_ head: HTTPResponseHead) -> Bool {
        guard head.status == 407 || head.status == 401 else { return false }
        return head.status == 407 || !head.fields.contains("WWW-Authenticate") && refusedProxy != nil
    }

    /// Handles a response in which a proxy demands a credential, before the response is delivered. Without a
    /// credential, the response is delivered.
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

    /// Handles a failure to connect if a proxy demanded a credential during this exchange. `failure` can be the error
    /// of a different proxy, which was tried after the demand.
    ///
    /// - Returns: `false` if the failure has another reason.
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

    /// Ends the exchange if it waits for connectivity because a proxy demands a credential. The demand is handled after
    /// the exchange has ended. Returns `false` if the exchange waits for another reason, or has already ended.
    func endsWaiting(for reason: NWError) -> Bool {
        guard case .posix(.EACCES) = reason, refusedProxy != nil,
            let handle = load.withState({ $0.waitRefused(.cannotConnect(reason)) })
        else { return false }
        handle.cancel()
        return true
    }
}
