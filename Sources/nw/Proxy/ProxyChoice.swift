import ArgumentParser
import Causeway
import FoundationEssentials

/// The proxies that `--proxy` names; several proxies form a chain.
struct ProxyChoice {
    static let help = ArgumentHelp(
        """
        Through this proxy: http://, https:// or socks5://[USER:PASSWORD@]HOST[:PORT]; again for one behind it; 'env' \
        for what HTTPS_PROXY, ALL_PROXY, auto_proxy and NO_PROXY say; pac+http:// or pac+https:// for a script that names it.
        """, valueName: "url")

    private let words: [String]
    private let scheme: String

    /// - Parameter scheme: The scheme of the destination. It selects the environment variable.
    init(_ words: [String], scheme: String) {
        self.words = words
        self.scheme = scheme
    }

    /// Validates the proxies before the command starts.
    func check() throws {
        guard words != ["env"] else { return }
        for (index, word) in words.enumerated() {
            guard (try? ProxyConfiguration(address: word)) == nil else { continue }
            // The message does not include the URL, which may contain a password.
            throw ValidationError(
                "--proxy number \(index + 1) is no http://, https:// or socks5:// URL of a proxy, nor pac+ and that of a script."
            )
        }
    }

    func apply(to parameters: NWParameters) throws {
        guard !words.isEmpty else { return }
        let proxies: [ProxyConfiguration]
        if words == ["env"] {
            do {
                proxies = try ProxyConfiguration.environment(forScheme: scheme)
            } catch {
                throw CommandFailure("the environment names a proxy that makes no sense; see: nw proxy")
            }
        } else {
            let each = try words.map { try ProxyConfiguration(address: $0) }
            proxies = each.count == 1 ? each : [ProxyConfiguration(chain: each)]
        }
        let context = NWParameters.PrivacyContext(description: "nw")
        context.proxyConfigurations = proxies
        parameters.setPrivacyContext(context)
    }
}
