/// Proxy settings from the environment: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
///
/// A variable in lower case takes precedence over the same variable in upper case. A variable with an empty value counts as not set. Where
/// curl and the Go library agree, this type behaves the same way; where they differ, it chooses the behaviour that reveals less to the
/// network. The variable `auto_proxy` names a PAC script.
package struct ProxyEnvironment: Sendable {
    /// An environment variable that names a proxy.
    package struct Choice: Equatable, Sendable {
        package var variable: String
        package var value: String
        /// Whether the variable names a proxy script (PAC).
        package var isScript: Bool { variable.lowercased() == "auto_proxy" }
    }

    private let variables: [String: String]

    package init(_ variables: [String: String]) { self.variables = variables }

    /// Returns the variable for URLs with this scheme.
    package func choice(forScheme scheme: String) -> Choice? {
        let secure = ["https", "wss", "tls"]
        let plain = ["http", "ws"]
        let scheme = scheme.lowercased()
        var names = ["all_proxy", "ALL_PROXY"]
        if secure.contains(scheme) { names = ["https_proxy", "HTTPS_PROXY"] + names }
        // A web server passes the request header `Proxy` to a CGI program as HTTP_PROXY, so an HTTP client could choose the proxy.
        // Therefore, ignore the variable in a CGI program.
        if plain.contains(scheme) {
            names = ["http_proxy"] + (variables["REQUEST_METHOD"] == nil ? ["HTTP_PROXY"] : []) + names
        }
        // Check the variables for a PAC script last. They apply only if no proxy variable is set for this scheme.
        for name in names + ["auto_proxy", "AUTO_PROXY"] {
            if let value = variables[name], !value.isEmpty { return Choice(variable: name, value: value) }
        }
        return nil
    }

    /// The `NO_PROXY` entries, without malformed entries.
    package var exceptions: [String] {
        let text = [variables["no_proxy"], variables["NO_PROXY"]].compactMap(\.self).first { !$0.isEmpty } ?? ""
        return text.split { $0 == "," || $0.isWhitespace }.map(String.init).filter { ProxyRule($0) != nil }
    }

    /// This host's names and addresses. Connections to them do not use the proxies from the environment.
    package static let thisHost = ["localhost", "127.0.0.0/8", "::1"]
}
