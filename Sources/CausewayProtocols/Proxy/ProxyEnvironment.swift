/// What the environment says about proxies: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
///
/// Lower case counts before upper case, an empty value as none. What curl and the Go library agree on is done their way; where they
/// differ, the way that tells the network less. `auto_proxy` names a script (PAC).
package struct ProxyEnvironment: Sendable {
    /// A variable that names a proxy.
    package struct Choice: Equatable, Sendable {
        package var variable: String
        package var value: String
        /// It names a script that chooses a proxy.
        package var isScript: Bool { variable.lowercased() == "auto_proxy" }
    }

    private let variables: [String: String]

    package init(_ variables: [String: String]) { self.variables = variables }

    /// The variable that counts for URLs of a scheme.
    package func choice(forScheme scheme: String) -> Choice? {
        let secure = ["https", "wss", "tls"]
        let plain = ["http", "ws"]
        let scheme = scheme.lowercased()
        var names = ["all_proxy", "ALL_PROXY"]
        if secure.contains(scheme) { names = ["https_proxy", "HTTPS_PROXY"] + names }
        // A web server gives its programs the header «Proxy» as HTTP_PROXY: where one runs, a stranger chose the value.
        if plain.contains(scheme) {
            names = ["http_proxy"] + (variables["REQUEST_METHOD"] == nil ? ["HTTP_PROXY"] : []) + names
        }
        // Last of all: who names proxies too has programs in mind that run no scripts, and some that do.
        for name in names + ["auto_proxy", "AUTO_PROXY"] {
            if let value = variables[name], !value.isEmpty { return Choice(variable: name, value: value) }
        }
        return nil
    }

    /// The words of `NO_PROXY`; those that make no sense are left out.
    package var exceptions: [String] {
        let text = [variables["no_proxy"], variables["NO_PROXY"]].compactMap(\.self).first { !$0.isEmpty } ?? ""
        return text.split { $0 == "," || $0.isWhitespace }.map(String.init).filter { ProxyRule($0) != nil }
    }

    /// This host itself, which no proxy of the environment is asked for.
    package static let thisHost = ["localhost", "127.0.0.0/8", "::1"]
}
