import ArgumentParser
import Causeway
import FoundationEssentials

/// The proxies named by `--proxy`; several proxies form a chain.
struct ProxyChoice {
    static let help = ArgumentHelp(
        """
        Connect through this proxy: http://, https:// or socks5://[USER:PASSWORD@]HOST[:PORT]. Repeat it for a chain of \
        proxies. 'env' uses HTTPS_PROXY, ALL_PROXY, auto_proxy and NO_PROXY; pac+http:// or pac+https:// runs a proxy script (PAC).
        """, valueName: "url")

    private let words: [String]
    private let scheme: String

    /// - Parameter scheme: The destination's scheme. It selects the environment variable that names the proxy.
    init(_ words: [String], scheme: String) {
        self.words = words
        self.scheme = scheme
    }

    /// Validates the proxies before the command starts.
    func check() throws {
        guard words != ["env"] else { return }
        for (index, word) in words.enumerated() {
            guard (try? ProxyConfiguration(address: word)) == nil else { continue }
            // The error message does not include the proxy's URL, because the URL may contain a password.
            throw ValidationError(
                "Value \(index + 1) of --proxy is invalid: expected an http://, https:// or socks5:// URL, or pac+ and the URL of a script."
            )
        }
    }

    /// - Parameter table: Records refusals by proxies that demand a credential or reject one.
    func apply(to parameters: NWParameters, recordingIn table: ProxyChallengeTable = ProxyChallengeTable()) throws {
        guard !words.isEmpty else { return }
        let proxies: [ProxyConfiguration]
        if words == ["env"] {
            do {
                proxies = try ProxyConfiguration.environment(forScheme: scheme)
            } catch {
                throw CommandFailure("a proxy variable of the environment is invalid; check it with: nw proxy URL")
            }
        } else {
            let each = try words.map { try ProxyConfiguration(address: $0) }
            proxies = each.count == 1 ? each : [ProxyConfiguration(chain: each)]
        }
        let context = NWParameters.PrivacyContext(description: "nw")
        context.proxyConfigurations = proxies.map { $0.recordingChallenges(in: table) }
        parameters.setPrivacyContext(context)
    }
}
