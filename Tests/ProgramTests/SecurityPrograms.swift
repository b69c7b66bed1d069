// Programs with custom trust decisions. Compiled twice, in Swift 6 and in Swift 5 mode.
import Network
import Testing

/// Checks a server with one handshake for each TLS version.
private enum VersionCheck {
    static let versions: [tls_protocol_version_t] = [.TLSv12, .TLSv13]
    static let oldest = tls_protocol_version_t(rawValue: 0x0301)!
    static let unknown = tls_protocol_version_t(rawValue: 0x0300)

    static func options(_ version: tls_protocol_version_t, _ suites: [tls_ciphersuite_t]) -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        sec_protocol_options_set_min_tls_protocol_version(options.securityProtocolOptions, version)
        sec_protocol_options_set_max_tls_protocol_version(options.securityProtocolOptions, version)
        for suite in suites { sec_protocol_options_append_tls_ciphersuite(options.securityProtocolOptions, suite) }
        return options
    }
}

/// Returns TLS options for a device that is reached by its address. A private authority has issued its certificate.
private func makeDeviceOptions(authority: Data, queue: DispatchQueue) -> NWProtocolTLS.Options? {
    guard let anchor = SecCertificateCreateWithData(nil, authority as CFData) else { return nil }
    let options = NWProtocolTLS.Options()
    let verify: sec_protocol_verify_t = { metadata, trust, complete in
        let secTrust = sec_trust_copy_ref(trust).takeRetainedValue()
        SecTrustSetAnchorCertificates(secTrust, [anchor] as CFArray)
        SecTrustSetAnchorCertificatesOnly(secTrust, true)
        SecTrustSetPolicies(secTrust, SecPolicyCreateBasicX509())
        SecTrustEvaluateAsyncWithError(secTrust, queue) { _, isTrusted, error in
            if let error { print(CFErrorCopyDescription(error), error.localizedDescription) }
            complete(isTrusted)
        }
    }
    sec_protocol_options_set_verify_block(options.securityProtocolOptions, verify, queue)
    return options
}

/// A pin: the bytes of the peer's key.
private func isPinned(_ trust: sec_trust_t, _ pins: Set<Data>) -> Bool {
    let secTrust = sec_trust_copy_ref(trust).takeRetainedValue()
    var result = SecTrustResultType.invalid
    guard SecTrustEvaluate(secTrust, &result) == errSecSuccess, result == .unspecified || result == .proceed else {
        return false
    }
    guard let chain = SecTrustCopyCertificateChain(secTrust) as? [SecCertificate], let leaf = chain.first,
        let key = SecCertificateCopyKey(leaf), let attributes = SecKeyCopyAttributes(key)
    else { return false }
    guard attributes[kSecAttrKeyType as String] as? String == kSecAttrKeyTypeRSA as String else { return false }
    var error: Unmanaged<CFError>?
    guard let bytes = SecKeyCopyExternalRepresentation(key, &error) as Data? else {
        print(error?.takeRetainedValue() as Any)
        return false
    }
    return pins.contains(bytes)
}

/// Returns whether the server's key is pinned. Also exports a secret from the TLS session. The label of the secret is
/// given as bytes.
private func isKnown(_ trust: SecTrust, _ metadata: sec_protocol_metadata_t, _ pins: [SecKey]) -> Bool {
    guard let key = SecTrustCopyKey(trust), pins.contains(key), Set(pins).count == pins.count else { return false }
    let label = Array("EXPORTER-made-example".utf8)
    let secret = label.withUnsafeBufferPointer {
        sec_protocol_metadata_create_secret(metadata, $0.count, $0.baseAddress!, 32)
    }
    let other = sec_protocol_metadata_create_secret(metadata, label.count, label, 32)
    let literal = sec_protocol_metadata_create_secret(metadata, 8, "EXPORTER", 32)
    return secret != nil && other != nil && literal != nil
}

private func makePinnedOptions(_ pins: [SecKey], queue: DispatchQueue) -> NWProtocolTLS.Options {
    let options = NWProtocolTLS.Options()
    sec_protocol_options_set_verify_block(
        options.securityProtocolOptions,
        { metadata, trust, complete in
            complete(isKnown(sec_trust_copy_ref(trust).takeRetainedValue(), metadata, pins))
        }, queue)
    return options
}

/// Sleeps for a time in milliseconds. Uses the form of `Task.sleep` that existed before `Duration`.
private func rest(milliseconds: UInt64) async throws {
    try await Task.sleep(nanoseconds: milliseconds * NSEC_PER_SEC / MSEC_PER_SEC)
}

/// Reads an identity from a PKCS #12 archive with the C functions.
private func readIdentity(_ archive: Data, password: String) -> (sec_identity_t?, OSStatus) {
    var items: CFArray?
    let options = [kSecImportExportPassphrase as String: password]
    let status = SecPKCS12Import(archive as NSData, options as CFDictionary, &items)
    guard status == errSecSuccess, let first = (items as? [[String: Any]])?.first,
        let item = first[kSecImportItemIdentity as String], CFGetTypeID(item as CFTypeRef) == SecIdentityGetTypeID()
    else { return (nil, status) }
    return (sec_identity_create(item as! SecIdentity), status)
}

/// Creates a key in memory, saves it in its external form, and reads it again.
private func makeKey(bits: Int) throws -> (key: SecKey, saved: Data) {
    let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrKeySizeInBits as String: bits,
        kSecPrivateKeyAttrs as String: [kSecAttrIsPermanent as String: false],
    ]
    var error: Unmanaged<CFError>?
    guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error),
        let saved = SecKeyCopyExternalRepresentation(key, &error) as Data?
    else { throw error!.takeRetainedValue() as Error }
    let query: NSDictionary = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
    ]
    guard let read = SecKeyCreateWithData(saved as CFData, query as! CFDictionary, &error) else {
        throw error!.takeRetainedValue() as Error
    }
    return (read, saved)
}

/// Signs a message with an algorithm that the key supports. Checks the signature with the public key.
private func isSigned(_ message: Data, with key: SecKey) -> Bool {
    let algorithm: SecKeyAlgorithm = .ecdsaSignatureMessageX962SHA256
    var error: Unmanaged<CFError>?
    guard SecKeyIsAlgorithmSupported(key, .sign, algorithm), let other = SecKeyCopyPublicKey(key),
        let signature = SecKeyCreateSignature(key, algorithm, message as CFData, &error) as Data?
    else { return false }
    return SecKeyVerifySignature(other, algorithm, message as CFData, signature as CFData, &error)
}

/// Returns the last day of a certificate's validity. This is the method for macOS before version 15.
private func expiry(of certificate: SecCertificate) -> Date? {
    guard
        let values = SecCertificateCopyValues(certificate, [kSecOIDX509V1ValidityNotAfter] as CFArray, nil)
            as? [CFString: [CFString: Any]],
        let number = values[kSecOIDX509V1ValidityNotAfter]?[kSecPropertyKeyValue] as? NSNumber
    else { return nil }
    return Date(timeIntervalSinceReferenceDate: number.doubleValue)
}

/// Returns the name of the negotiated cipher suite with this number; `nil` for an unexpected suite.
private func suiteName(_ number: UInt16) -> String? {
    switch number {
    case UInt16(TLS_AES_128_GCM_SHA256): "AES-GCM of TLS 1.3"
    case UInt16(TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256), UInt16(TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256): "AES-GCM"
    case UInt16(TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256): "ChaCha20 and a pre-shared key"
    default: nil
    }
}

/// The message that tells the user why a server is not trusted.
private func refusal(_ trust: SecTrust) -> (text: String, error: any Error)? {
    var error: CFError?
    guard !SecTrustEvaluateWithError(trust, &error), let error else { return nil }
    let text =
        switch Int32(truncatingIfNeeded: CFErrorGetCode(error)) {
        case errSecCertificateExpired, errSecCertificateNotValidYet: "its time"
        case errSecHostNameMismatch: "its name"
        case errSecNotTrusted, errSecCreateChainFailed, errSecVerifyActionFailed: "its issuer"
        case errSecDecode: "its form"
        default: "unknown"
        }
    return (text, error)
}

@Suite("Programs with custom trust decisions")
struct SecurityProgramTests {
    @Test("They compile and create their objects")
    func objects() async throws {
        #expect(VersionCheck.oldest == .TLSv10 && VersionCheck.unknown == nil)
        let suite = try #require(tls_ciphersuite_t(rawValue: 0x1301))
        for version in VersionCheck.versions {
            #expect(
                NWParameters(tls: VersionCheck.options(version, [suite])).defaultProtocolStack.applicationProtocols
                    .count == 1)
        }
        #expect(makeDeviceOptions(authority: Data([0x30, 0]), queue: DispatchQueue(label: "verify")) != nil)
        #expect(readIdentity(Data([1]), password: "").1 == errSecDecode)
        var trust: SecTrust?
        let certificate = try #require(SecCertificateCreateWithData(nil, Data([0x30, 0]) as CFData))
        #expect(SecTrustCreateWithCertificates(certificate, SecPolicyCreateSSL(true, nil), &trust) == noErr)
        let made = try #require(trust)
        #expect(
            NWParameters(tls: makePinnedOptions([], queue: .main)).defaultProtocolStack.applicationProtocols.count == 1)
        try await rest(milliseconds: 0)
        let told = try #require(refusal(made))
        #expect(told.text == "its form")
        #expect((told.error as NSError).code == Int(errSecDecode))
        #expect((told.error as NSError).domain == NSOSStatusErrorDomain)
        #expect(suiteName(tls_ciphersuite_t.AES_128_GCM_SHA256.rawValue) == "AES-GCM of TLS 1.3")
        #expect(suiteName(0xccac) == "ChaCha20 and a pre-shared key")
        let wrapped = try #require(sec_trust_create(made))
        #expect(!isPinned(wrapped, []))
    }

    @Test("A program makes a key, saves it and signs with it")
    func keys() throws {
        let (key, saved) = try makeKey(bits: 384)
        #expect(saved.count == 145)
        #expect(isSigned(Data("message".utf8), with: key))
        #expect(throws: CFError.self) { try makeKey(bits: 100) }
        let certificate = try #require(SecCertificateCreateWithData(nil, Data([0x30, 0]) as CFData))
        #expect(expiry(of: certificate) == nil && SecIdentityCreate(nil, certificate, key) == nil)
    }
}
