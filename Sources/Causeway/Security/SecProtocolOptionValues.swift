internal import Dispatch
package import FoundationEssentials

/// The values that `sec_protocol_options_*` functions set. `nil` and empty values mean the TLS engine's default.
package struct SecProtocolOptionValues: Sendable, Equatable {
    package var localIdentity: sec_identity_t?
    package var ciphers = Ciphers()
    package var versions = Versions()
    /// The application protocols, as strings: RFC 7301 §3.1 allows arbitrary bytes, but the C functions accept only strings.
    package var applicationProtocols: [String] = []
    package var serverName: String?
    package var preSharedKeys = PreSharedKeys()
    package var switches = Switches()
    package var isFallbackAttempt = false
    package var earlyDataEnabled = false
    package var peer = PeerRules()
    package var challenge: SecProtocolBlock<sec_protocol_challenge_t>?
    package var keyUpdate: SecProtocolBlock<sec_protocol_key_update_t>?

    package init() {}

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.localIdentity === rhs.localIdentity && lhs.ciphers == rhs.ciphers && lhs.versions == rhs.versions
            && lhs.applicationProtocols == rhs.applicationProtocols && lhs.serverName == rhs.serverName
            && lhs.preSharedKeys == rhs.preSharedKeys && lhs.switches == rhs.switches
            && lhs.isFallbackAttempt == rhs.isFallbackAttempt && lhs.earlyDataEnabled == rhs.earlyDataEnabled
            && lhs.peer == rhs.peer && lhs.challenge == rhs.challenge && lhs.keyUpdate == rhs.keyUpdate
    }
}

extension SecProtocolOptionValues {
    /// The allowed cipher suites.
    package struct Ciphers: Sendable, Equatable {
        package var suites: [tls_ciphersuite_t] = []
        package var groups: [tls_ciphersuite_group_t] = []

        /// The numbers of all added cipher suites: first those added individually, then those from the added groups. If
        /// empty, the TLS engine uses its default suites.
        var numbers: [UInt16] {
            var numbers: [UInt16] = []
            for number in suites.map(\.rawValue) + groups.flatMap(\.numbers) where !numbers.contains(number) {
                numbers.append(number)
            }
            return numbers
        }
    }

    /// The allowed protocol versions.
    package struct Versions: Sendable, Equatable {
        package var minimum: tls_protocol_version_t?
        package var maximum: tls_protocol_version_t?
    }

    package struct PreSharedKey: Sendable, Equatable {
        package var key: Data
        package var identity: Data
    }

    /// The pre-shared keys, and the settings that determine which key is used.
    package struct PreSharedKeys: Sendable, Equatable {
        package var keys: [PreSharedKey] = []
        /// The hint with which a server tells clients which key to use.
        package var identityHint: Data?
        /// The block that selects a client's key according to the server's hint.
        package var selection: SecProtocolBlock<sec_protocol_pre_shared_key_selection_t>?
    }

    /// The TLS options that are either on or off. An option that the program has not set has the default of the TLS
    /// engine.
    package struct Switches: Sendable, Equatable {
        package struct Name: OptionSet, Sendable {
            package let rawValue: UInt8

            package init(rawValue: UInt8) { self.rawValue = rawValue }

            package static let tickets = Name(rawValue: 1)
            package static let resumption = Name(rawValue: 2)
            package static let falseStart = Name(rawValue: 4)
            /// Whether to request stapled OCSP responses.
            package static let ocsp = Name(rawValue: 8)
            /// Whether to request signed certificate timestamps.
            package static let sct = Name(rawValue: 16)
            package static let renegotiation = Name(rawValue: 32)
        }

        private var on: Name = []
        private var off: Name = []

        /// Whether the program has turned the option on or off. `nil` if the program has set neither.
        package subscript(name: Name) -> Bool? {
            get { on.contains(name) ? true : off.contains(name) ? false : nil }
            set {
                on.subtract(name)
                off.subtract(name)
                switch newValue {
                case true?: on.insert(name)
                case false?: off.insert(name)
                case nil: break
                }
            }
        }
    }

    /// Whether the peer must authenticate itself.
    package enum PeerAuthentication: Sendable, Equatable {
        case none, optional, required
    }

    /// Whether and how the peer's certificate is validated.
    package struct PeerRules: Sendable, Equatable {
        /// Whether the peer must authenticate itself. By default (`nil`), a client requires the server's certificate,
        /// and a server does not request the client's certificate.
        package var authentication: PeerAuthentication?
        package var trust = TLSTrustRules()
        /// The program's block that decides whether the peer is trusted. The block replaces the default validation.
        package var verify: SecProtocolBlock<sec_protocol_verify_t>?

        /// Sets ``verify`` to a block that runs an asynchronous closure in a task. The closure decides whether the peer
        /// is trusted.
        mutating func setValidator(
            _ handler: @escaping @isolated(any) @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool
        ) {
            let verify: sec_protocol_verify_t = { metadata, trust, complete in
                let complete = Unchecked(complete)
                // The program's closure is asynchronous and may belong to an actor, but this block runs on a queue.
                // Therefore, call the closure in a new task.
                Task { complete.value(await handler(metadata, trust)) }
            }
            self.verify = SecProtocolBlock(verify, .global())
        }
    }
}
