internal import CausewayTLS
internal import CausewayTypes
internal import FoundationEssentials

extension SecProtocolOptionValues {
    /// Converts the options to settings of the TLS engine.
    ///
    /// Ignores options that affect only speed or extra information (false start, signed timestamps, the key update block). Also ignores the
    /// option that allows renegotiation: renegotiation stays disabled, because that is safer.
    func settings(isServer: Bool, isDatagram: Bool) throws(NWError) -> TLSSettings {
        // Reject a block that selects a pre-shared key. OpenSSL would select a key without calling the block.
        guard preSharedKeys.selection == nil else { throw .posix(.ENOTSUP) }
        var settings = TLSSettings(isServer ? .server : .client)
        settings.usesDatagrams = isDatagram
        try versions.apply(to: &settings)
        settings.cipherSuites = ciphers.numbers
        settings.applicationProtocols = applicationProtocols
        settings.identity = try localIdentity.map { identity throws(NWError) in try identity.engineIdentity() }
        settings.preSharedKeys = preSharedKeys.keys.map { .init(key: [UInt8]($0.key), identity: [UInt8]($0.identity)) }
        settings.preSharedKeyHint = preSharedKeys.identityHint.map { [UInt8]($0) }
        try peer.apply(to: &settings)
        settings.asksForIdentity = settings.side == .client && challenge != nil
        if let isOn = switches[.resumption] { settings.isResumptionEnabled = isOn }
        if let isOn = switches[.tickets] { settings.areTicketsEnabled = isOn }
        settings.isEarlyDataEnabled = earlyDataEnabled
        if let isOn = switches[.ocsp] { settings.requestsStatus = isOn }
        settings.isFallbackAttempt = isFallbackAttempt
        return settings
    }
}

extension SecProtocolOptionValues.PeerRules {
    fileprivate func apply(to settings: inout TLSSettings) throws(NWError) {
        settings.trust = try trust.settings()
        switch authentication {
        // If a client has a verify block, require peer authentication although the program disabled it. Otherwise the
        // TLS engine would not call the block, and nothing would validate the server.
        case .some(.none): settings.peerAuthentication = settings.side == .client && verify != nil ? .required : .none
        case .optional: settings.peerAuthentication = .optional
        case .required: settings.peerAuthentication = .required
        case nil: break
        }
        if let verify { settings.verifier = .owner(verify.number) }
    }
}

extension SecProtocolOptionValues.Versions {
    fileprivate func apply(to settings: inout TLSSettings) throws(NWError) {
        settings.minimumVersion = try minimum.map { version throws(NWError) in
            try version.settled(isDatagram: settings.usesDatagrams, isMinimum: true)
        }
        settings.maximumVersion = try maximum.map { version throws(NWError) in
            try version.settled(isDatagram: settings.usesDatagrams, isMinimum: false)
        }
    }
}

extension tls_protocol_version_t {
    /// Returns the version for this transport. DTLS 1.2 corresponds to TLS 1.2 (RFC 6347 §1), and DTLS 1.0 to TLS 1.1.
    fileprivate func settled(isDatagram: Bool, isMinimum: Bool) throws(NWError) -> TLSVersion {
        switch (self, isDatagram) {
        case (.TLSv10, false): .tls10
        case (.TLSv11, false), (.DTLSv10, false): .tls11
        case (.TLSv12, false), (.DTLSv12, false): .tls12
        case (.TLSv13, false): .tls13
        case (.TLSv10, true), (.TLSv11, true), (.DTLSv10, true): .dtls10
        case (.TLSv12, true), (.DTLSv12, true): .dtls12
        case (.TLSv13, true):
            // OpenSSL supports DTLS only up to 1.2. If the minimum version is DTLS 1.3, throw an error. If it is the
            // maximum version, use DTLS 1.2.
            if isMinimum { throw .posix(.ENOTSUP) } else { .dtls12 }
        }
    }
}

extension tls_ciphersuite_group_t {
    private static let forwardSecret: [UInt16] = [
        0x1302, 0x1301, 0x1303, 0xc02c, 0xc02b, 0xcca9, 0xc030, 0xc02f, 0xcca8,
    ]
    private static let forwardSecretCBC: [UInt16] = [
        0xc024, 0xc023, 0xc00a, 0xc009, 0xc028, 0xc027, 0xc014, 0xc013,
    ]
    private static let withoutForwardSecrecy: [UInt16] = [0x009d, 0x009c, 0x003d, 0x003c, 0x0035, 0x002f]
    private static let tripleDES: [UInt16] = [0xc008, 0xc012, 0x000a]

    /// The suites of the group in order of preference.
    var numbers: [UInt16] {
        switch self {
        case .default: Self.forwardSecret
        case .ats, .compatibility: Self.forwardSecret + Self.forwardSecretCBC
        case .ats_compatibility: Self.forwardSecret + Self.forwardSecretCBC + Self.withoutForwardSecrecy
        case .legacy:
            Self.forwardSecret + Self.forwardSecretCBC + Self.withoutForwardSecrecy + Self.tripleDES
        }
    }
}
