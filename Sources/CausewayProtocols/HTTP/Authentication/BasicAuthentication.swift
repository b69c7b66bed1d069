import CausewayWire

/// The Basic scheme (RFC 7617).
package enum BasicAuthentication {
    /// Returns the `Authorization` or `Proxy-Authorization` value (RFC 9110 §11.4, §11.6.2).
    ///
    /// The credential is sent in UTF-8, which is the only charset that a challenge can name (RFC 7617 §2.1).
    ///
    /// - Returns: `nil` if the user name contains a colon, which is the separator, or if the user name or the password
    ///   contains control characters (RFC 7617 §2).
    package static func authorization(_ credential: PasswordCredential) -> String? {
        let (name, password) = (credential.username.utf8, credential.password.utf8)
        guard !name.contains(UInt8(ascii: ":")) else { return nil }
        guard !name.contains(where: URIBytes.isControl), !password.contains(where: URIBytes.isControl) else {
            return nil
        }
        return "Basic " + Base64.encode(Array(name) + [UInt8(ascii: ":")] + Array(password))
    }
}
