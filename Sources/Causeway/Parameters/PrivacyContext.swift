internal import CausewayRuntime
internal import CausewaySystem
public import FoundationEssentials
internal import Synchronization

extension NWParameters {
    /// Isolates caches and settings for a set of connections from all other connections.
    ///
    /// If a privacy context requires encrypted name resolution or an unsupported proxy kind, its connections fail with
    /// `.posix(.ENOTSUP)`, because without this protection the connections would reveal names or addresses.
    ///
    /// Counterpart: macOS 11, iOS 14.
    // SAFETY: `debugDescription` is immutable, and a lock protects everything else.
    public class PrivacyContext: CustomDebugStringConvertible, @unchecked Sendable {
        /// A snapshot of the settings.
        package struct Settings: Sendable {
            package var isLoggingDisabled = false
            package var requiresEncryptedNames = false
            package var fallbackResolver: ResolverConfiguration?
            package var proxies: [ProxyConfiguration] = []
            /// The cache partition: privacy contexts with different numbers share no cached DNS answers.
            package var partition: UInt64 = 0
        }

        /// The privacy context for all connections whose parameters set no other privacy context.
        public static let `default` = PrivacyContext(description: "default", partition: 0)

        /// The text passed to ``init(description:)``.
        public let debugDescription: String

        private let storage = LockedValue(Settings())

        /// Creates a privacy context with its own settings and its own cache partition.
        public convenience init(description: String) {
            self.init(
                description: description,
                partition: Self.contextCount.wrappingAdd(1, ordering: .relaxed).newValue)
        }

        private init(description: String, partition: UInt64) {
            debugDescription = description
            storage.withLock { $0.partition = partition }
        }

        /// The number of privacy contexts that programs have created. Each context gets a unique number from this
        /// counter. ``default`` has the number 0, even if a program creates another context first.
        private static let contextCount = Atomic<UInt64>(0)

        package var settings: Settings { storage.withLock { $0 } }

        /// Disables logging for connections in this privacy context. No effect: connections write no logs.
        public func disableLogging() {
            guard self !== Self.default else { return }
            storage.withLock { $0.isLoggingDisabled = true }
        }

        /// Sets whether names may be resolved only over an encrypted transport.
        ///
        /// Encrypted name resolution is not implemented: connections that require it fail with `.posix(.ENOTSUP)`. The fallback resolver
        /// has no effect.
        ///
        /// - Parameters:
        ///   - requireEncryption: Whether to require an encrypted transport.
        ///   - fallbackResolver: The resolver to use if the system's resolver is not encrypted.
        public func requireEncryptedNameResolution(
            _ requireEncryption: Bool, fallbackResolver: NWParameters.PrivacyContext.ResolverConfiguration?
        ) {
            storage.withLock {
                $0.requiresEncryptedNames = requireEncryption
                $0.fallbackResolver = fallbackResolver
            }
        }

        /// The proxies for connections in this privacy context, most preferred first. Default: none.
        ///
        /// Listeners and groups cannot use a proxy. They fail with `.posix(.ENOTSUP)`, unless
        /// ``NWParameters/preferNoProxies`` is set or every proxy has ``ProxyConfiguration/allowFailover``. A
        /// connection fails in the same way if none of the proxies for its endpoint can carry it, for example a UDP
        /// connection with HTTP proxies.
        ///
        /// Counterpart: macOS 14, iOS 17.
        public var proxyConfigurations: [ProxyConfiguration] {
            get { storage.withLock { $0.proxies } }
            set { storage.withLock { $0.proxies = newValue } }
        }

        /// A resolver with an encrypted transport.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public enum ResolverConfiguration: CustomDebugStringConvertible, Sendable {
            /// DNS over TLS (RFC 7858). If server addresses are given, the server's name need not be looked up.
            case tls(_: NWEndpoint, serverAddresses: [NWEndpoint])
            /// DNS over HTTPS (RFC 8484). If server addresses are given, the name in the URL need not be looked up.
            case https(_: URL, serverAddresses: [NWEndpoint])

            /// The kind and location of the resolver.
            public var debugDescription: String {
                switch self {
                case .tls(let server, _): "DNS over TLS: \(server.debugDescription)"
                case .https(let url, _): "DNS over HTTPS: \(url.absoluteString)"
                }
            }
        }
    }
}
