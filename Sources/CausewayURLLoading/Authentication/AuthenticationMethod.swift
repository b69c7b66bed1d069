/// The authentication schemes of challenges, and the constants by which programs know them.
enum AuthenticationMethod {
    /// The schemes for whole connections, in lower case.
    static let connectionSchemes = ["negotiate", "ntlm"]

    /// Returns the constant for a scheme that can be answered.
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

    /// Returns the connection scheme with this constant; `nil` for other constants.
    static func connectionScheme(named method: String) -> String? {
        connectionSchemes.first { name(of: $0) == method }
    }
}
