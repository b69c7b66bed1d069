/// Cryptographic functions for NTLM. They return `nil` if the cryptographic library does not provide the algorithm.
package struct NTLMFunctions: Sendable {
    /// Computes an MD4 digest (RFC 1320), which has 16 bytes.
    package var md4: @Sendable (_ message: [UInt8]) -> [UInt8]?
    /// Computes an HMAC with MD5 (RFC 2104), which has 16 bytes.
    package var hmacMD5: @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]?

    package init(
        md4: @escaping @Sendable (_ message: [UInt8]) -> [UInt8]?,
        hmacMD5: @escaping @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]?
    ) {
        self.md4 = md4
        self.hmacMD5 = hmacMD5
    }
}

/// A user name and its domain.
package struct NTLMUser: Equatable, Sendable {
    package var name: String
    /// The domain; empty for the server's own domain.
    package var domain: String

    package init(name: String, domain: String = "") {
        self.name = name
        self.domain = domain
    }

    /// Creates a user from `DOMAIN\user`. A name of the form `user@domain` is sent unchanged, without a domain, and the
    /// server looks it up.
    package init(_ text: String) {
        guard let separator = text.utf8.firstIndex(of: UInt8(ascii: "\\")) else {
            self.init(name: text)
            return
        }
        self.init(name: String(text[text.utf8.index(after: separator)...]), domain: String(text[..<separator]))
    }

    /// The name in upper case, scalar by scalar. A scalar that would become several scalars, such as `ß`, stays
    /// unchanged.
    var uppercaseName: String {
        var result = ""
        for scalar in name.unicodeScalars {
            let mapping = scalar.properties.uppercaseMapping.unicodeScalars
            result.unicodeScalars.append(mapping.count == 1 ? mapping.first ?? scalar : scalar)
        }
        return result
    }
}
