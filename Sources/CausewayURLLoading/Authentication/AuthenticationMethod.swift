/// The authentication schemes of challenges, and the public constants that name the schemes.
enum AuthenticationMethod {
    /// The names, in lower case, of the schemes that authenticate a whole connection.
    static let connectionSchemes = ["negotiate", "ntlm"]

    /// Returns the public constant for a supported scheme.
    ///
    /// - Parameter scheme: The name in lower case.
    static func name(of scheme: String) -> String {
        switch scheme {
        case "basic": NSURLAuthenticationMethodHTTPBasic
        case "negotiate": NSURLAuthenticationMethodNegotiate
        case "ntlm": NSURLAuthenticationMethodNTLM
        default: NSURLAuthenticationMethodHTTPDigest
        }
    }

    /// Returns the name of the scheme that a public constant stands for. Returns `nil` if the scheme does not
    /// authenticate a whole connection.
    static func connectionScheme(named method: String) -> String? {
        connectionSchemes.first { name(of: $0) == method }
    }
}
