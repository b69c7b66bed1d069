/// The authentication schemes of challenges, and the public constants that name the schemes.
enum AuthenticationMethod {
    /// The schemes that authenticate a whole connection, in lower case.
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

    /// Returns the scheme for authenticating a whole connection that has this constant; `nil` for other constants.
    static func connectionScheme(named method: String) -> String? {
        connectionSchemes.first { name(of: $0) == method }
    }
}
