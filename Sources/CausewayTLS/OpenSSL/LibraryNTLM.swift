internal import CCausewayLibraries
package import CausewayProtocols

/// NTLM functions from OpenSSL, whose legacy provider has MD4.
package enum LibraryNTLM {
    /// An error message with the package to install; `nil` if the functions are available. The first use loads the provider.
    package static var problem: String? { cw_ntlm_digests_load().map { String(cString: $0) } }

    /// The functions. They return `nil` if OpenSSL or its legacy provider is missing. Any thread may call them.
    package static let functions = NTLMFunctions(
        md4: { message in digest { cw_md4(message, message.count, $0) } },
        hmacMD5: { key, message in digest { cw_hmac_md5(key, key.count, message, message.count, $0) } })

    private static func digest(_ compute: (UnsafeMutablePointer<UInt8>) -> Bool) -> [UInt8]? {
        guard problem == nil else { return nil }
        var digest = [UInt8](repeating: 0, count: 16)
        return compute(&digest) ? digest : nil
    }
}
