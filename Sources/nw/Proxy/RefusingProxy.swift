import Causeway
import CausewayTypes

/// A proxy that demands a user name and password, or refused those it received.
struct RefusingProxy: Error {
    let proxy: String
    let hadCredential: Bool
    /// Whether the user configured a credential that the proxy has not received yet.
    let hasUnsentCredential: Bool

    init(_ proxy: ProxyChallenges, _ refusal: ProxyChallenges.Refusal) {
        self.proxy = proxy.endpoint.label
        hadCredential = refusal.hadCredential
        hasUnsentCredential = !refusal.hadCredential && refusal.hasCredential
    }

    var text: PrintableText {
        hadCredential
            ? "the proxy \(proxy) refused the user name or the password"
            : "the proxy \(proxy) demands a user name and a password; add them to its URL: http://USER:PASSWORD@\(proxy)"
    }
}

extension NWConnection {
    /// The refusal by a proxy that rejected the credential or demands one; `nil` if there is none.
    private var proxyRefusal: RefusingProxy? {
        let table = parameters.values.privacyContext.settings.proxies.lazy.compactMap(\.challengeTable).first
        return table?.refused(endpoint, since: .zero).map { RefusingProxy($0.0, $0.1) }
    }

    /// Describes a failure and its reason, such as `connection to the proxy 127.0.0.1:9 failed: Connection refused`.
    func failureText(_ error: any Error) -> PrintableText {
        let target = endpoint.label
        if let reason = proxyFailureReason { return "connection to \(target) failed: \(reason)" }
        guard let proxy = driver.route?.proxy else { return "connection to \(target) failed: \(describe(error))" }
        if case NWError.posix(.EACCES) = error, let refusal = proxyRefusal { return refusal.text }
        guard driver.establishment?.connected != nil else {
            return "connection to the proxy \(proxy.label) failed: \(describe(error))"
        }
        return "connection to \(target) through the proxy \(proxy.label) failed: \(describe(error))"
    }
}
